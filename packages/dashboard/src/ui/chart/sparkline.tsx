// A trend in the size of a line of text. It has no axis: the number beside it says how much.
export interface SparklineProps {
  values: readonly (number | null)[]
  /** What it shows, in a sentence. */
  label: string
  kind?: 'line' | 'bars'
  tone?: 'queue' | 'fail' | 'info' | 'plain'
  width?: number
  height?: number
}

const W = 200

export function Sparkline({ values, label, kind = 'line', tone = 'queue', width, height = 30 }: SparklineProps) {
  const most = Math.max(1e-9, ...values.map((value) => value ?? 0))
  const step = W / Math.max(1, values.length)
  const y = (value: number) => (height - 2 - (value / most) * (height - 4)).toFixed(1)
  const known = values.flatMap((value, index) =>
    value === null ? [] : [`${((index + 0.5) * step).toFixed(1)} ${y(value)}`],
  )
  const bars = values.map((value, index) =>
    value ? `M${(index * step).toFixed(1)} ${height - 1}V${y(value)}h${(step * 0.74).toFixed(1)}V${height - 1}z` : '',
  )
  return (
    <svg
      className={`spark ${tone}`}
      viewBox={`0 0 ${W} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      style={{ height, ...(width !== undefined && { width }) }}
    >
      {kind === 'bars' ? (
        <>
          <path className="base" d={`M0 ${height - 0.5}h${W}`} />
          <path className="bars" d={bars.join('')} />
        </>
      ) : (
        <path className="line" d={known.length === 0 ? `M0 ${height - 2}h${W}` : `M${known.join('L')}`} />
      )}
    </svg>
  )
}
