x = a<!--b
--> c