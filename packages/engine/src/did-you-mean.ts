/** " Did you mean "x"?" for the nearest known name, or nothing. */
export function suggestion(given: string, known: readonly string[]): string {
  const best = didYouMean(given, known)
  return best === undefined ? '' : ` Did you mean "${best}"?`
}

/** The known name that is nearest to the given one, if one is near. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(given.length / 3)) + 1
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase())
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current[j] = Math.min(substitution, (previous[j] as number) + 1, (current[j - 1] as number) + 1)
    }
    previous = current
  }
  return previous[b.length] as number
}
