// The picture of a run: one panel per measure, one row per library, its best settings above its defaults.
import { OURS, RAW } from './contestants.ts'
import type { Measure, PeersReport } from './document.ts'

const WIDTH = 800
const MARGIN = 20
const LABELS = 150
const BARS = 420
const ROW = 27
const BAR = 10
const HEAD = 46

interface Panel {
  readonly measure: Measure
  readonly title: string
}
interface Row {
  readonly name: string
  readonly best: number
  readonly defaults?: number | undefined
}

const panels: readonly Panel[] = [
  { measure: 'drain', title: 'Working off a backlog: jobs per second' },
  { measure: 'bulk', title: 'Enqueueing 1,000 at a time: jobs per second' },
  { measure: 'single16', title: 'Enqueueing one by one, 16 callers: jobs per second' },
  { measure: 'latencyP50', title: 'From enqueue to start on an idle system: milliseconds, median; less is better' },
]

export function plotOf(report: PeersReport): string {
  let y = 62
  const parts: string[] = []
  for (const panel of panels) {
    const rows = rowsOf(report, panel.measure)
    parts.push(panelOf(panel, rows, y))
    y += HEAD + rows.length * ROW
  }
  const { environment, options } = report
  const { node, postgres, cpus, cpu } = environment
  const facts = `Node ${node}, PostgreSQL ${postgres}, ${cpus} × ${cpu}, ${roundsOf(options)}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 6}" width="${WIDTH}" height="${y + 6}" role="img">
<title>Millrace beside graphile-worker, pg-boss and BullMQ</title>
<style>${style}</style>
<rect class="page" width="100%" height="100%"/>
${text(MARGIN, 30, 'Millrace with its defaults beside its peers', 'title')}
${text(MARGIN, 50, facts, 'faint')}
${legend(WIDTH - MARGIN)}
${parts.join('\n')}
</svg>
`
}

const style = `
text { font: 13px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: #1f2328 }
.page { fill: #ffffff } .title { font-size: 17px; font-weight: 600 } .head { font-weight: 600 }
.faint { fill: #59636e } .mark { font-weight: 600 }
.ours { fill: #1a7f5a } .peer { fill: #6e7b8b } .defaults { fill: #c3ccd6 } .axis { stroke: #d1d9e0 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .page { fill: #0d1117 } .faint { fill: #9198a1 }
  .ours { fill: #3fb98a } .peer { fill: #8b98a8 } .defaults { fill: #434c57 } .axis { stroke: #3d444d }
}
`

/** A library's two entries are one row. The raw loop only drains. */
function rowsOf({ ours, peers, raw }: PeersReport, measure: Measure): Row[] {
  const rows: Row[] = [{ name: OURS, best: ours[measure] }]
  for (const [name, figures] of Object.entries(peers)) {
    if (!name.endsWith(DEFAULTS))
      rows.push({ name, best: figures[measure], defaults: peers[name + DEFAULTS]?.[measure] })
  }
  return measure === 'drain' ? [...rows, { name: RAW, best: raw.drain }] : rows
}

const DEFAULTS = ', defaults'

function panelOf({ measure, title }: Panel, rows: readonly Row[], top: number): string {
  const limit = limitOf(rows)
  const x = MARGIN + LABELS
  const bar = (value: number, y: number, kind: string) => barOf({ x, y, width: (value / limit) * BARS, kind })
  const bars = rows.map((row, i) => {
    const y = top + HEAD - 10 + i * ROW
    const isOurs = row.name === OURS
    const mark = isOurs ? 'mark' : ''
    const middle = y + (row.defaults === undefined ? BAR / 2 : 0)
    const label = text(x - 10, y + BAR + 4, row.name, mark, 'end')
    const best = bar(row.best, middle, isOurs ? 'ours' : 'peer')
    const defaults = row.defaults === undefined ? '' : bar(row.defaults, middle + BAR, 'defaults')
    const longest = Math.min(limit, Math.max(row.best, row.defaults ?? 0))
    return [
      label,
      best,
      defaults,
      text(x + Math.round((longest / limit) * BARS) + 8, y + BAR + 4, captionOf(row, measure), mark),
    ].join('')
  })
  const bottom = top + HEAD - 10 + rows.length * ROW
  return `${text(MARGIN, top + 24, title, 'head')}
<line class="axis" x1="${x}" x2="${x}" y1="${top + HEAD - 12}" y2="${bottom}"/>
${bars.join('\n')}`
}

/** A value far beyond all others would leave nothing to see of them: its bar is cut off, and its caption says it. */
function limitOf(rows: readonly Row[]): number {
  const values = rows.flatMap(({ best, defaults = 0 }) => [best, defaults]).sort((a, b) => a - b)
  const [second = 0, largest = 0] = values.slice(-2)
  return largest > second * 20 ? second * 1.6 : largest
}

function captionOf({ best, defaults }: Row, measure: Measure): string {
  const figure = measure.startsWith('latency') ? millis : rate
  return defaults === undefined ? figure(best) : `${figure(best)} · ${figure(defaults)}`
}

export function roundsOf({ rounds }: PeersReport['options']): string {
  return rounds === 1 ? 'one round' : `median of ${rounds} rounds`
}

export const rate = (value: number): string => Math.round(value).toLocaleString('en')
export const millis = (value: number): string => (value < 100 ? value.toFixed(1) : rate(value))

function barOf({ x, y, width, kind }: { x: number; y: number; width: number; kind: string }): string {
  const shown = Math.max(1, Math.round(Math.min(width, BARS)))
  const drawn = `<rect class="${kind}" x="${x}" y="${y}" width="${shown}" height="${BAR - 1}"/>`
  const gap = `<rect class="page" x="${x + shown - 14}" y="${y}" width="4" height="${BAR - 1}"/>`
  return width > BARS ? drawn + gap : drawn
}

function legend(right: number): string {
  const names = [
    ['peer', 'best settings'],
    ['defaults', 'defaults'],
  ] as const
  return names
    .map(([kind, name], i) => {
      const x = right - 190 + i * 112
      return `<rect class="${kind}" x="${x}" y="20" width="12" height="${BAR}"/>${text(x + 18, 30, name, 'faint')}`
    })
    .join('')
}

function text(x: number, y: number, content: string, kind: string, anchor = 'start'): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}"${kind && ` class="${kind}"`}${anchor === 'end' ? ' text-anchor="end"' : ''}>${escaped}</text>`
}
