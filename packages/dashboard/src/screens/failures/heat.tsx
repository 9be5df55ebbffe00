// Deaths by type and window: where it burns, and since when.
import { useQuery } from '@tanstack/react-query'
import { type Answer, ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Card } from '../../ui/card.tsx'
import { Link } from '../../ui/link.tsx'
import { QueueName, TypeName } from '../../ui/names.tsx'
import { formatNumber } from '../../ui/text/format.ts'

const WINDOWS = ['1h', '3h', '24h', '7d'] as const
const TITLES = { '1h': '1 h', '3h': '3 h', '24h': '24 h', '7d': '7 days' }
const MOST = 12

type Runs = Answer<'reports', 'runs'>

export function Heat() {
  const may = useMay()
  const isAllowed = may('reports.runs')
  const hour = useQuery({ ...ask('reports', 'runs', { since: '1h' }), refetchInterval: 30_000, enabled: isAllowed })
  const three = useQuery({ ...ask('reports', 'runs', { since: '3h' }), refetchInterval: 60_000, enabled: isAllowed })
  const day = useQuery({ ...ask('reports', 'runs', { since: '24h' }), refetchInterval: 300_000, enabled: isAllowed })
  const week = useQuery({ ...ask('reports', 'runs', { since: '7d' }), refetchInterval: 300_000, enabled: isAllowed })
  const read = [hour.data, three.data, day.data, week.data]
  const rows = rowsOf(read)
  if (rows.length === 0) return null
  return (
    <Card title="Deaths by type and window" note="Each number opens those jobs.">
      <table className="heat">
        <thead>
          <tr>
            <th scope="col">type</th>
            <th scope="col" className="desk">
              queue
            </th>
            {WINDOWS.map((window) => (
              <th key={window} scope="col" className="r">
                {TITLES[window]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST).map(({ type, queue, counts }) => (
            <tr key={`${queue} ${type}`}>
              <th scope="row">
                <TypeName name={type} />
              </th>
              <td className="desk">
                <QueueName name={queue} plain />
              </td>
              {counts.map((count, index) => (
                <td key={WINDOWS[index]} className="r">
                  {count === null ? (
                    <span className="faint">…</span>
                  ) : count === 0 ? (
                    <span className="zero">0</span>
                  ) : (
                    <Link
                      className={`plain h${level(count)}`}
                      to={`/jobs?q=${encodeURIComponent(`status:dead type:${type} finished:>-${WINDOWS[index]}`)}`}
                    >
                      {formatNumber(count)}
                    </Link>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

const level = (count: number) => (count >= 100 ? 3 : count >= 20 ? 2 : 1)

function rowsOf(read: readonly (Runs | undefined)[]) {
  const rows = new Map<string, { type: string; queue: string; counts: (number | null)[] }>()
  read.forEach((report, index) => {
    for (const { type, queue, dead } of report?.types ?? []) {
      if (dead === 0) continue
      const key = `${queue} ${type}`
      const row = rows.get(key) ?? { type, queue, counts: read.map((each) => (each === undefined ? null : 0)) }
      row.counts[index] = dead
      rows.set(key, row)
    }
  })
  return [...rows.values()].sort(
    (a, b) => (b.counts[0] ?? 0) - (a.counts[0] ?? 0) || (b.counts[3] ?? 0) - (a.counts[3] ?? 0),
  )
}
