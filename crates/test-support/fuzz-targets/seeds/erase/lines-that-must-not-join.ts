a = b as T
[1].x
c = d!
(e)
const f = async <
  T
>(g: T): Promise<
  T
> => g
x = y
type Z = 1
;(z)
