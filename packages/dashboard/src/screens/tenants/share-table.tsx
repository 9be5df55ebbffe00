// Who gets what: the busiest tenants, the others in one row, the idle in another.
import { Card } from '../../ui/card.tsx'
import { Meter } from '../../ui/chart/meter.tsx'
import { TenantName } from '../../ui/names.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { Duration, Percent, Quantity } from '../../ui/text/figures.tsx'
import { counted, formatNumber } from '../../ui/text/format.ts'
import { type Fairness, isHeld, multiple, ruleName, type TenantShare } from './fairness.ts'

type Row = Pick<TenantShare, 'weight' | 'share' | 'dueShare' | 'waiting' | 'waitP50Ms' | 'waitP95Ms'>

export function ShareTable({ fairness }: { fairness: Fairness }) {
  const { top, others, idle } = fairness
  // Bars are drawn against the largest, so that small shares can be compared.
  const scale = Math.max(0.01, ...[...top, others].map(({ share, dueShare }) => Math.max(share, dueShare)))
  return (
    <Card
      title="Who gets what"
      aside={
        <p className="legend">
          <span>
            <i className="many" />
            share of the runs
          </span>
          <span>
            <i className="tick" />
            due by weight
          </span>
        </p>
      }
    >
      <div className="scrolls">
        <table className="fair">
          <caption>
            {others.tenants > 0
              ? `The ${top.length} tenants with the most work; the others in the last rows.`
              : `${counted(top.length, 'tenant')} with work.`}
          </caption>
          <thead>
            <tr>
              <th scope="col">tenant</th>
              <th scope="col" className="r wide">
                weight
              </th>
              <th scope="col" className="bar2">
                share
              </th>
              <th scope="col" className="r">
                <span className="vh">share in percent</span>
              </th>
              <th scope="col" className="r">
                waiting
              </th>
              <th scope="col" className="r wide">
                p50 wait
              </th>
              <th scope="col" className="r">
                p95 wait
              </th>
              <th scope="col" className="pl wide">
                held by
              </th>
            </tr>
          </thead>
          <tbody>
            {top.map((share) => (
              <tr key={share.tenant ?? ''}>
                <th scope="row">
                  <TenantName name={share.tenant} />
                </th>
                <Figures row={share} scale={scale} tone={toneOf(share)} />
                <td className="pl wide">
                  <HeldBy share={share} />
                </td>
              </tr>
            ))}
            {others.tenants > 0 && (
              <tr className="rest">
                <th scope="row">{counted(others.tenants, 'other')}</th>
                <Figures row={others} scale={scale} tone="queue" />
                <td className="pl wide faint">median waits</td>
              </tr>
            )}
            {idle > 0 && (
              <tr>
                <th scope="row" className="faint">
                  {formatNumber(idle)} idle
                </th>
                <td colSpan={7} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

const toneOf = (share: TenantShare) => (share.asks > 1 && !isHeld(share) ? 'late' : 'queue')

function Figures({ row, scale, tone }: { row: Row; scale: number; tone: 'queue' | 'late' }) {
  return (
    <>
      <td className="r wide">{formatNumber(row.weight)}</td>
      <td className="bar2">
        <Meter
          share={row.share / scale}
          mark={row.dueShare / scale}
          tone={tone}
          label={`Gets ${Math.round(100 * row.share)} percent, due ${Math.round(100 * row.dueShare)}`}
        />
      </td>
      <td className="r nw">
        <Percent share={row.share} />
      </td>
      <td className="r">
        <Quantity value={row.waiting} />
      </td>
      <td className="r nw wide">
        <Duration ms={row.waitP50Ms} />
      </td>
      <td className="r nw">
        <Duration ms={row.waitP95Ms} />
      </td>
    </>
  )
}

function HeldBy({ share }: { share: TenantShare }) {
  const { heldBy, asks } = share
  if (heldBy === null || heldBy.rule === 'none') return <span className="faint">–</span>
  const words = heldBy.rule === 'fair share' ? `itself: asks for ${multiple(asks)}` : ruleName(heldBy)
  return (
    <Badge tone="late" icon={heldBy.rule === 'fair share' ? 'late' : 'held'}>
      {words}
    </Badge>
  )
}
