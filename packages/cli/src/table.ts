/** Columns under their titles, as wide as their widest cell. Columns in which nothing stands are left out. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = titles.map((_, i) => i).filter((i) => rows.some((row) => row[i]))
  const lines = [titles, ...rows].map((cells) => columns.map((i) => cells[i] ?? ''))
  const widths = columns.map((_, i) => Math.max(...lines.map((cells) => (cells[i] ?? '').length)))
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
