// "Did you mean": the known name that is nearest to a misspelt one.

export function nearest(wrong: string, known: readonly string[]): string | undefined {
  const ranked = known.map((name) => ({ name, distance: distance(wrong, name) }))
  const best = ranked.sort((a, b) => a.distance - b.distance)[0]
  return best !== undefined && best.distance <= Math.max(2, wrong.length / 5) ? best.name : undefined
}

/** How many letters must be added, removed or changed. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(changed, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    above = row
  }
  return above[b.length] ?? 0
}
