import { marked, markedState } from './colours.ts'
import { oneLine } from './print.ts'
import { safeLine } from './terminal.ts'

/** Columns of which the first word is a state. */
const STATES = new Set(['STATUS', 'STATE', 'RESULT', 'OUTCOME', 'SEVERITY', 'LEVEL', 'DELIVERY'])

/** Columns under their titles, as wide as their widest cell. Columns in which nothing stands are left out. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = titles.map((_, i) => i).filter((i) => rows.some((row) => row[i]))
  const lines = [titles, ...rows].map((cells) => columns.map((i) => safeLine(cells[i] ?? '')))
  const widths = columns.map((_, i) => Math.max(...lines.map((cells) => (cells[i] ?? '').length)))
  const heads = lines[0] ?? []
  return lines
    .map((cells, line) => {
      const padded = cells.map((cell, i) => cell.padEnd(i === cells.length - 1 ? 0 : (widths[i] ?? 0)))
      if (line === 0) return `${marked('title', padded.join('  ').trimEnd())}\n`
      return `${padded
        .map((cell, i) => (STATES.has(heads[i] ?? '') ? markedState(cell) : cell))
        .join('  ')
        .trimEnd()}\n`
    })
    .join('')
}

/** Labels and what stands for them, one below the other. Those for which there is nothing are left out. */
export function facts(lines: readonly (readonly [label: string, value: string | null])[]): string {
  const shown = lines.filter((line): line is [string, string] => line[1] !== null)
  const width = Math.max(...shown.map(([label]) => label.length))
  return shown
    .map(([label, value]) => {
      const line = oneLine(value, 2_000)
      return `${label.padEnd(width)}  ${STATES.has(label.toUpperCase()) ? markedState(line) : line}\n`
    })
    .join('')
}
