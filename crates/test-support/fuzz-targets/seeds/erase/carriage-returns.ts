let a: {
 b: 1
} = 1;let c: number