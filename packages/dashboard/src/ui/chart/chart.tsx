// A chart over time: bars that stand on each other, or lines. Own SVG, drawn in a plane that stretches, so nothing is measured.
import { type ReactNode, useState } from 'react'
import { useNow, useTimeZone } from '../text/clock.ts'
import { compactNumber, formatClock } from '../text/format.ts'
import { Readout } from './readout.tsx'
import { niceTop, timeTicks } from './scale.ts'
import { areaPath, barsPath, highest, linePath, type Plane, type Series, sumsBelow } from './series.ts'

export interface ChartProps {
  kind: 'bars' | 'lines'
  /** The beginning of each step, in ms. All series have as many values. */
  at: readonly number[]
  stepMs: number
  series: readonly Series[]
  /** What the chart shows, in a sentence, for those who cannot see it. */
  label: string
  format?: (value: number) => string
  /** The top of the axis for a highest value. */
  topOf?: (most: number) => number
  height?: number
  /** Moments to remember, such as a deploy. */
  marks?: readonly { readonly at: number; readonly label: string }[]
  /** A level to keep below, such as an SLA. */
  level?: { readonly value: number; readonly label: string } | null
  /** Said where there is nothing to draw. */
  none?: ReactNode
  /** Called with the beginning of a step that was clicked, or chosen with Enter. */
  onPick?: (at: number) => void
}

export function Chart(props: ChartProps) {
  const { kind, at, stepMs, series, label, format = compactNumber, topOf = niceTop, height = 168 } = props
  const [picked, setPicked] = useState<number | null>(null)
  const zone = useTimeZone()
  const most = Math.max(highest(series, kind === 'bars'), props.level?.value ?? 0)
  const plane: Plane = { height, top: topOf(most) }
  const from = at[0] ?? 0
  const length = at.length * stepMs
  const isEmpty = highest(series, true) === 0 && series.every(({ values }) => values.every((value) => !value))
  const pick = (index: number | null) =>
    setPicked(index === null || at.length === 0 ? null : Math.max(0, Math.min(at.length - 1, index)))
  return (
    <div className="chart" style={{ ['--h' as string]: `${height}px` }}>
      <div className="y" aria-hidden="true">
        {[1, 0.5, 0].map((share) => (
          <span key={share} style={{ bottom: `${share * 100}%` }}>
            {share === 0 ? '0' : format(plane.top * share)}
          </span>
        ))}
      </div>
      <Plot
        label={label}
        count={at.length}
        picked={picked}
        onMove={pick}
        onPick={(index) => props.onPick?.(at[index] ?? 0)}
      >
        <svg viewBox={`0 0 1000 ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <path className="grid" d={`M0 0h1000M0 ${height / 2}h1000M0 ${height}h1000`} />
          {series.map((each, index) => (
            <Shape key={each.key} kind={kind} series={each} below={sumsBelow(series, index)} plane={plane} />
          ))}
        </svg>
        <Overlays {...props} plane={plane} from={from} length={length} />
        {isEmpty && <div className="none">{props.none ?? 'Nothing happened in this time.'}</div>}
        {picked !== null && !isEmpty && (
          <Readout
            at={at[picked] ?? 0}
            share={(picked + 0.5) / at.length}
            index={picked}
            series={series}
            format={format}
          />
        )}
      </Plot>
      <div className="x" aria-hidden="true">
        {timeTicks(from, from + length, zone).map(({ at: tick, share, text }) => (
          <span key={tick} style={{ left: `${share * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
    </div>
  )
}

function Shape({
  kind,
  series,
  below,
  plane,
}: {
  kind: string
  series: Series
  below: readonly number[]
  plane: Plane
}) {
  const { values, colour, isDashed = false, isArea = false } = series
  if (kind === 'bars') return <path className={`fill s-${colour}`} d={barsPath(values, below, plane)} />
  return (
    <>
      {isArea && <path className={`area s-${colour}`} d={areaPath(values, plane)} />}
      <path className={`stroke s-${colour} ${isDashed ? 'dashed' : ''}`} d={linePath(values, plane)} />
    </>
  )
}

function Overlays({
  marks = [],
  level,
  plane,
  from,
  length,
}: ChartProps & { plane: Plane; from: number; length: number }) {
  return (
    <>
      {level && level.value <= plane.top && (
        <div className="hline" style={{ bottom: `${(level.value / plane.top) * 100}%` }}>
          <span>{level.label}</span>
        </div>
      )}
      {placed(marks, from, length).map(({ at, label, share, row }) => (
        <div key={`${at} ${label}`} className={share < 0.3 ? 'mark start' : 'mark'} style={{ left: `${share * 100}%` }}>
          <span style={{ top: row * 15 - 2 }}>{label}</span>
        </div>
      ))}
    </>
  )
}

/** Labels that would cover each other stand below each other. */
function placed(marks: NonNullable<ChartProps['marks']>, from: number, length: number) {
  const shown = marks
    .map((mark) => ({ ...mark, share: (mark.at - from) / length }))
    .filter(({ share }) => share >= 0 && share <= 1)
    .sort((a, b) => a.share - b.share)
  return shown.map((mark, index) => ({
    ...mark,
    row: shown.slice(0, index).filter(({ share }) => mark.share - share < 0.3).length % 4,
  }))
}

interface PlotProps {
  label: string
  count: number
  picked: number | null
  onMove: (index: number | null) => void
  onPick: (index: number) => void
  children: ReactNode
}

/** The mouse and the arrow keys choose a step; what it holds is read out. */
function Plot({ label, count, picked, onMove, onPick, children }: PlotProps) {
  const move: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }
  return (
    <div
      className="plot"
      role="group"
      aria-label={`${label} Arrow keys read single values.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read the values
      tabIndex={0}
      onPointerMove={(event) => {
        const { left, width } = event.currentTarget.getBoundingClientRect()
        onMove(Math.floor(((event.clientX - left) / width) * count))
      }}
      onPointerLeave={() => onMove(null)}
      onBlur={() => onMove(null)}
      onClick={() => picked !== null && onPick(picked)}
      onKeyDown={(event) => {
        const by = move[event.key]
        if (by !== undefined) {
          event.preventDefault()
          onMove((picked ?? count) + by)
        } else if (event.key === 'Escape') onMove(null)
        else if (event.key === 'Enter' && picked !== null) onPick(picked)
      }}
    >
      {children}
    </div>
  )
}

/** The colours of a chart, with their names. */
export const Legend = ({ series }: { series: readonly Pick<Series, 'key' | 'label' | 'colour' | 'isDashed'>[] }) => (
  <p className="legend">
    {series.map(({ key, label, colour, isDashed }) => (
      <span key={key}>
        <i className={`s-${colour} ${isDashed ? 'dashed' : ''}`} />
        {label}
      </span>
    ))}
  </p>
)

/** The same figures as a table, for those who want the numbers. */
export function AsTable({ at, series, format = compactNumber }: Pick<ChartProps, 'at' | 'series' | 'format'>) {
  const zone = useTimeZone()
  const now = useNow()
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section className="scroll" tabIndex={0} aria-label="Figures of the chart">
          <table>
            <thead>
              <tr>
                <th scope="col">from</th>
                {series.map(({ key, label }) => (
                  <th key={key} scope="col" className="r">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {at.map((time, index) => (
                <tr key={time}>
                  <th scope="row">{formatClock(new Date(time), zone, new Date(now))}</th>
                  {series.map(({ key, values }) => (
                    <td key={key} className="r">
                      {values[index] === null || values[index] === undefined ? '–' : format(values[index])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}
