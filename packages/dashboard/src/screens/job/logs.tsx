// The log lines that were kept of a run.
import { useMemo, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { counted } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'

interface Line {
  readonly level: string
  /** Since the start of the run. */
  readonly ms: number
  readonly msg: string
  readonly fields?: object
}

const isLine = (value: unknown): value is Line =>
  typeof value === 'object' && value !== null && 'msg' in value && typeof value.msg === 'string'

const PART = 200

export function Logs({ logs, title, since }: { logs: unknown; title: string; since: string | null }) {
  const lines = useMemo(() => (Array.isArray(logs) ? logs.filter(isLine) : []), [logs])
  const [most, setMost] = useState(PART)
  if (lines.length === 0) return null
  const text = () =>
    lines
      .map(
        ({ level, ms, msg, fields }) => `+${seconds(ms)} ${level} ${msg}${fields ? ` ${JSON.stringify(fields)}` : ''}`,
      )
      .join('\n')
  return (
    <section className="panel" aria-label={title}>
      <div className="ph">
        <h2>{title}</h2>
        <span className="note">
          {since !== null && (
            <>
              seconds since <RelativeTime at={since} as="moment" /> ·{' '}
            </>
          )}
          {counted(lines.length, 'line')} <CopyButton text={text()} label="Copy the log" iconOnly />
        </span>
      </div>
      <ol className="log">
        {lines.slice(0, most).map(({ level, ms, msg, fields }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
          <li key={index} className={level}>
            <time>+{seconds(ms)}</time>
            <span className="lv">{level}</span>
            <span>
              {msg} {fields && <span className="faint">{JSON.stringify(fields)}</span>}
            </span>
          </li>
        ))}
      </ol>
      {lines.length > most && (
        <Button size="sm" onClick={() => setMost(most + 5 * PART)}>
          Show more of {counted(lines.length, 'line')}
        </Button>
      )}
    </section>
  )
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(3)
