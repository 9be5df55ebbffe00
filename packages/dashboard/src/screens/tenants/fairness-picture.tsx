// Each tenant by how much it asks for and how long it waits. The upper left shows who waits without asking for much.
import { Card } from '../../ui/card.tsx'
import { counted, formatDuration } from '../../ui/text/format.ts'
import { type Fairness, isHeld, multiple, nameOf, type TenantShare } from './fairness.ts'

const COLUMNS = 60
const ROWS = 32
/** Where a tenant asks for what it is due. */
const DUE_COLUMN = 36
const NAMED = 4
const ASKS = [0.001, 0.01, 0.1, 1, 10, 80]
const WAITS = [100, 1_000, 10_000, 60_000, 600_000, 3_600_000]

const columnOf = (asks: number) => Math.max(0, Math.min(COLUMNS, 12 * Math.log10(Math.max(0.001, asks) / 0.001)))
const rowOf = (ms: number) => Math.max(0, Math.min(ROWS, 7 * Math.log10(Math.max(100, ms) / 100)))
/** Inside of the plot, however long it waits. */
const pointRow = (ms: number) => Math.max(0.8, Math.min(ROWS - 0.8, rowOf(ms)))
const percent = (part: number, whole: number) => `${(100 * part) / whole}%`

export function FairnessPicture({ fairness, slaMs }: { fairness: Fairness; slaMs: number | null }) {
  const { cells, top, queue, working } = fairness
  const most = Math.max(1, ...cells.map(({ tenants }) => tenants))
  const named = labelled(top)
  return (
    <Card
      title="Does anyone wait who asks for no more than a fair share?"
      aside={
        <p className="legend">
          {slaMs !== null && (
            <span>
              <i className="look" />
              look here first: waits beyond {formatDuration(slaMs)}
            </span>
          )}
          <span>
            <i className="few" />
            few tenants
          </span>
          <span>
            <i className="many" />
            many
          </span>
          <span>
            <i className="held" />
            held by a rule
          </span>
        </p>
      }
      note={`${counted(working, 'tenant')} with work in ${queue}. Right of 1 × a tenant asks for more than it is due, and waits by its own doing. In the upper left a rule holds it, or the sharing is unfair.`}
    >
      <div className="fairness">
        <div className="y" aria-hidden="true">
          {WAITS.map((ms) => (
            <span key={ms} style={{ bottom: percent(rowOf(ms), ROWS) }}>
              {formatDuration(ms)}
            </span>
          ))}
        </div>
        <div className="field" role="img" aria-label={spoken(fairness, slaMs)}>
          {slaMs !== null && (
            <div
              className="zone"
              style={{ width: percent(DUE_COLUMN, COLUMNS), height: percent(ROWS - rowOf(slaMs), ROWS) }}
            />
          )}
          <svg viewBox={`0 0 ${COLUMNS} ${ROWS}`} preserveAspectRatio="none" aria-hidden="true">
            {WAITS.map((ms) => (
              <path key={ms} className="grid" d={`M0 ${ROWS - rowOf(ms)}H${COLUMNS}`} />
            ))}
            <path className="due" d={`M${DUE_COLUMN} 0V${ROWS}`} />
            {cells.map(({ asks, wait, isHeld: held, tenants }) => (
              <rect
                key={`${asks} ${wait} ${held}`}
                className={held ? 'cell held' : 'cell'}
                x={asks + 0.06}
                y={ROWS - 1 - wait + 0.06}
                width={0.88}
                height={0.88}
                opacity={0.35 + (0.65 * Math.log(1 + tenants)) / Math.log(1 + most)}
              />
            ))}
          </svg>
          <span className="cap last wide" aria-hidden="true">
            asks for more than it is due
          </span>
          {named.map((share) => (
            <Point key={nameOf(share.tenant)} share={share} />
          ))}
        </div>
        <div className="x" aria-hidden="true">
          {ASKS.map((asks) => (
            <span key={asks} style={{ left: percent(columnOf(asks), COLUMNS) }}>
              {asks} ×
            </span>
          ))}
        </div>
      </div>
      <p className="note axis">
        what a tenant asks for, as a multiple of the share that it is due · upwards: its p95 wait
      </p>
    </Card>
  )
}

function Point({ share }: { share: TenantShare }) {
  const left = Math.max(0.5, Math.min(COLUMNS - 0.5, columnOf(share.asks)))
  const at = { left: percent(left, COLUMNS), bottom: percent(pointRow(share.waitP95Ms ?? 0), ROWS) }
  const kind = isHeld(share) ? 'held' : share.asks > 1 ? 'loud' : ''
  return (
    <span aria-hidden="true">
      <i className={`pt ${kind}`} style={at} />
      <span className={`lb ${left > COLUMNS / 2 ? 'l' : ''}`} style={at}>
        <b>{nameOf(share.tenant)}</b>
      </span>
    </span>
  )
}

/** The ones that stand apart, as far as their names do not cover each other. */
function labelled(top: readonly TenantShare[]): TenantShare[] {
  const shown: TenantShare[] = []
  const byWait = [...top].sort((a, b) => (b.waitP95Ms ?? 0) - (a.waitP95Ms ?? 0) || b.asks - a.asks)
  for (const share of byWait) {
    if (share.waitP95Ms === null || shown.length === NAMED) continue
    const row = rowOf(share.waitP95Ms)
    if (shown.every((other) => Math.abs(rowOf(other.waitP95Ms ?? 0) - row) > 2)) shown.push(share)
  }
  return shown
}

function spoken({ working, top, queue }: Fairness, slaMs: number | null): string {
  const facts = labelled(top).map(
    (share) =>
      `${nameOf(share.tenant)} asks for ${multiple(share.asks)} its share and waits ${formatDuration(share.waitP95Ms ?? 0)}`,
  )
  const sla = slaMs === null ? '' : ` The SLA is ${formatDuration(slaMs)}.`
  return `${counted(working, 'tenant')} with work in ${queue}, each by how much it asks for and how long it waits at p95.${sla} ${facts.join('. ')}.`
}
