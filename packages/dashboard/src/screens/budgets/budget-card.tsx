// One budget: spent against its ceiling, where that leads, who spent it, and another limit.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Meter } from '../../ui/chart/meter.tsx'
import { TypeName } from '../../ui/names.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { useNow } from '../../ui/text/clock.ts'
import { formatNumber, formatPercent } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { AdjustBudget } from './adjust-budget.tsx'
import { type Budget, forecastOf, formatAmount, levelOf } from './amounts.ts'

const FROM = {
  period: 'set for this period',
  setting: 'set by an operator',
  source: "from the program's own table",
  code: 'from the code',
}

export function BudgetCard({ budget, isOpen }: { budget: Budget; isOpen: boolean }) {
  const { budget: name, unit, spent, reserved, limit, percent, limitFrom, period, endsAt, isUntold } = budget
  const { tone, word, says } = levelOf(budget)
  const may = useMay()
  const [isAdjusting, setAdjusting] = useState(false)
  const forecast = forecastOf(budget, useNow())
  return (
    <Card
      title={name}
      aside={
        <span className="acts">
          <Badge tone={tone} as="tag">
            {word}
          </Badge>
          {may('budgets.adjust') && (
            <Button size="sm" onClick={() => setAdjusting(true)}>
              Change the limit…
            </Button>
          )}
        </span>
      }
      note={says}
    >
      <div className="budget">
        <p className="sum">
          <b>{formatAmount(spent, unit)}</b> of {formatAmount(limit, unit)}{' '}
          <span className="dim">
            {formatPercent(percent / 100)} used in {period}, {FROM[limitFrom]}
          </span>
        </p>
        <Meter
          share={limit === 0 ? 1 : spent / limit}
          held={limit === 0 ? 0 : reserved / limit}
          mark={forecast === null || limit === 0 ? null : Math.min(1, forecast.total / limit)}
          label={`Spent of ${name}`}
          tone={tone === 'fail' ? 'fail' : tone === 'late' ? 'late' : 'ok'}
        />
        <ul className="marks" aria-hidden="true">
          <li style={{ left: '75%' }}>75 %</li>
          <li style={{ left: '90%' }}>90 %</li>
        </ul>
        <p className="sub">
          {reserved > 0 && <span>{formatAmount(reserved, unit)} reserved by running jobs</span>}
          <span>
            {forecast === null
              ? 'too early in the period for a forecast'
              : `${formatAmount(forecast.total, unit)} by its end, at this speed`}
          </span>
          {forecast?.exhaustedAt && (
            <span className="t-fail">
              used up <RelativeTime at={forecast.exhaustedAt} />
            </span>
          )}
          <span>
            begins again <RelativeTime at={endsAt} />
          </span>
          {isUntold && <span className="t-late">nobody has been told of this level</span>}
        </p>
      </div>
      <details open={isOpen}>
        <summary>Who spent it</summary>
        <Usage budget={budget} />
      </details>
      <AdjustBudget budget={budget} isOpen={isAdjusting} onClose={() => setAdjusting(false)} />
    </Card>
  )
}

function Usage({ budget: { budget, unit, spent } }: { budget: Budget }) {
  const { data } = useQuery({ ...ask('budgets', 'get', { budget }), refetchInterval: 15_000 })
  if (!data) return <Skeleton height={80} />
  if (data.usage.length === 0) return <p className="dim">Nobody has spent anything in this period.</p>
  const rows = [...data.usage].sort((a, b) => b.amount - a.amount).slice(0, 20)
  return (
    <table className="usage">
      <caption className="vh">Spent by job type and originator</caption>
      <thead>
        <tr>
          <th scope="col">Job type</th>
          <th scope="col">Enqueued by</th>
          <th scope="col" className="r">
            Calls
          </th>
          <th scope="col" className="r">
            Spent
          </th>
          <th scope="col" className="hide-narrow">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ type, createdBy, calls, amount }) => (
          <tr key={`${type} ${createdBy}`}>
            <th scope="row">
              <TypeName name={type} />
            </th>
            <td>{createdBy ?? <span className="faint">not said</span>}</td>
            <td className="r">{formatNumber(calls)}</td>
            <td className="r">{formatAmount(amount, unit)}</td>
            <td className="hide-narrow">
              <Meter share={spent === 0 ? 0 : amount / spent} label={`Share of ${type}`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
