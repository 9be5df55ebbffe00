/** `reached` resolves at the nth call of `count`. */
export function countdown(n: number): { count(): void; reached: Promise<void> } {
  let left = n
  let reach = () => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const count = () => {
    if (--left === 0) reach()
  }
  return { count, reached }
}
