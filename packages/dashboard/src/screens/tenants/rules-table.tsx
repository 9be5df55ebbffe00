// Who is held back, and by which rule.
import { useMay } from '../../data/session.tsx'
import { Card } from '../../ui/card.tsx'
import { Link } from '../../ui/link.tsx'
import { TenantName } from '../../ui/names.tsx'
import { Quantity } from '../../ui/text/figures.tsx'
import { counted, formatNumber } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { type Fairness, ruleName } from './fairness.ts'

type Rule = Fairness['rules'][number]

export function RulesTable({ fairness }: { fairness: Fairness }) {
  const { rules, waiting, queue, at } = fairness
  if (rules.length === 0) return null
  return (
    <Card title="Who is held back, and by which rule">
      <table className="rules">
        <caption>
          {waiting === 1 ? 'The job that waits' : `All ${formatNumber(waiting)} jobs that wait`} in {queue}, each
          counted once, by the rule that ends last.
        </caption>
        <thead>
          <tr>
            <th scope="col">rule</th>
            <th scope="col" className="r">
              tenants
            </th>
            <th scope="col" className="r">
              jobs
            </th>
            <th scope="col" className="pl">
              who, and until when
            </th>
            <th scope="col">
              <span className="vh">where to change it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule) => (
            <tr key={`${rule.rule} ${rule.name} ${rule.by} ${rule.reason}`}>
              <th scope="row">{ruleName(rule)}</th>
              <td className="r" data-title={rule.tenants === 1 ? 'tenant' : 'tenants'}>
                <Quantity value={rule.tenants} />
              </td>
              <td className="r" data-title={rule.jobs === 1 ? 'job' : 'jobs'}>
                <Quantity value={rule.jobs} />
              </td>
              <td className="pl dim">
                <Who rule={rule} />
                <Until rule={rule} at={at} />
              </td>
              <td className="r">
                <Change rule={rule} queue={queue} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function Who({ rule: { who, tenants, rule } }: { rule: Rule }) {
  if (rule === 'none' && tenants > who.length) return <>next in line</>
  return (
    <>
      {who.map((tenant, place) => (
        <span key={tenant ?? ''}>
          {place > 0 && ', '}
          <TenantName name={tenant} />
        </span>
      ))}
      {tenants > who.length && ` and ${counted(tenants - who.length, 'more tenant')}`}
      {rule === 'fair share' && (tenants === 1 ? ' asks for more than it is due' : ' ask for more than they are due')}
      {rule === 'none' && (tenants === 1 ? ' is next in line' : ' are next in line')}
    </>
  )
}

function Until({ rule: { rule, until, by, reason }, at }: { rule: Rule; at: string | Date }) {
  const isNow = until !== null && +new Date(until) <= +new Date(at)
  return (
    <>
      {by !== null && `; by ${by}`}
      {reason !== null && `: ${reason}`}
      {until !== null && !isNow && (
        <>
          {rule === 'breaker' ? '; next try ' : '; ends '}
          <RelativeTime at={until} />
        </>
      )}
      {isNow && '; the next one starts when a run ends'}
    </>
  )
}

/** The screen on which the rule can be changed. */
function Change({ rule: { rule, who }, queue }: { rule: Rule; queue: string }) {
  const may = useMay()
  const [first] = who
  if (rule === 'breaker') return <Link to="/budgets">Breakers</Link>
  if (rule === 'pause' || rule === 'limit') return <Link to={`/queues/${encodeURIComponent(queue)}`}>Queue</Link>
  if (rule === 'fair share' || rule === 'suspension' || rule === 'slots' || rule === 'job limit') {
    const to = `/tenants/${encodeURIComponent(first ?? '')}?queue=${encodeURIComponent(queue)}`
    return first == null || !may('tenants.get') ? null : (
      <Link to={to}>{rule === 'fair share' ? 'Weight' : 'Tenant'}</Link>
    )
  }
  return null
}
