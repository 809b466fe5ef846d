let type = 1; type = 2; let as = 3, satisfies = as as any; declare: abstract: for (;;) break abstract; interface
A {}