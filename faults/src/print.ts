// Reports as text.
import type { Report } from './scenario.ts'

/** One line per criterion, then the figures. */
export function criteriaOf(report: Report): string {
  const criteria = report.criteria.map(
    ({ name, isMet, detail }) => `    ${isMet ? '✓' : '✗'} ${name}${detail ? ` (${detail})` : ''}`,
  )
  const figures = Object.entries(report.figures).map(([name, value]) => `${name} ${value}`)
  return [...criteria, ...(figures.length > 0 ? [`      ${figures.join(' · ')}`] : [])].join('\n')
}

/** One line per report. */
export function summaryOf(reports: readonly Report[]): string {
  const rows = reports.map((report) => [
    report.scenario,
    report.mutation ?? '',
    stateOf(report),
    `${report.criteria.filter((each) => each.isMet).length}/${report.criteria.length}`,
    `${report.seconds.toFixed(1)} s`,
  ])
  const header = ['scenario', 'mutation', 'result', 'criteria', 'time']
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] as string).length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd()
  return [header, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')
}

function stateOf({ isGreen, isAsExpected, mutation }: Report): string {
  if (mutation === null) return isGreen ? 'green' : 'RED'
  if (isGreen) return 'GREEN: proves nothing'
  return isAsExpected ? 'red, as it must be' : 'RED FOR ANOTHER REASON'
}
