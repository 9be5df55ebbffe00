// Budgets and breakers: what is spent and what may not be called, both of which hold jobs.
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Loaded } from '../../ui/screen-state.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { counted, listed } from '../../ui/text/format.ts'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { type Budget, levelOf } from './amounts.ts'
import { type Breaker, BreakersCard } from './breakers.tsx'
import { BudgetCard } from './budget-card.tsx'
import type { BudgetsSearch } from './route.ts'
import './budgets.css'

export function BudgetsScreen() {
  useTitle('Budgets and breakers')
  const budgets = useLive(ask('budgets', 'list', {}), { every: 5_000 })
  const breakers = useLive(ask('breakers', 'list', {}), { every: 3_000 })
  return (
    <Loaded of={budgets} what="the budgets">
      {(spending) => (
        <Loaded of={breakers} what="the breakers">
          {(calling) => <Budgets budgets={spending.budgets} breakers={calling.breakers} />}
        </Loaded>
      )}
    </Loaded>
  )
}

function Budgets({ budgets, breakers }: { budgets: readonly Budget[]; breakers: readonly Breaker[] }) {
  const { budget: chosen, breaker } = useSearch({ strict: false }) as BudgetsSearch
  const open = breakers.filter(({ state }) => state !== 'closed')
  return (
    <>
      <Verdict
        facts={[
          budgets.length > 0 && counted(budgets.length, 'budget'),
          breakers.length > 0 && `${open.length} of ${counted(breakers.length, 'breaker')} not closed`,
        ]}
      >
        {sentence(budgets, open)}
      </Verdict>
      {budgets.map((budget) => (
        <BudgetCard key={budget.budget} budget={budget} isOpen={budget.budget === chosen || budgets.length <= 2} />
      ))}
      {budgets.length === 0 && (
        <div className="panel">
          <EmptyState title="There are no budgets.">
            <p>
              <code>
                defineBudget('ai', {'{'} limit: 500, per: 'month', unit: 'dollars' {'}'})
              </code>{' '}
              on a job type holds its jobs before they cost too much.
            </p>
          </EmptyState>
        </div>
      )}
      <BreakersCard breakers={breakers} chosen={breaker} />
    </>
  )
}

function sentence(budgets: readonly Budget[], open: readonly Breaker[]): ReactNode {
  const stopped = budgets.filter((budget) => levelOf(budget).tone === 'fail')
  const tight = budgets.filter((budget) => levelOf(budget).tone === 'late')
  const closedOut = open.filter(({ state }) => state === 'open').map(({ service }) => service)
  const probing = open.filter(({ state }) => state === 'half_open').map(({ service }) => service)
  const parts: ReactNode[] = []
  if (closedOut.length > 0)
    parts.push(
      <Em key="open" tone="fail">
        {listed(closedOut)} may not be called
      </Em>,
    )
  if (stopped.length > 0)
    parts.push(
      <Em key="stop" tone="fail">
        {listed(stopped.map(({ budget }) => budget))} is spent
      </Em>,
    )
  if (probing.length > 0) parts.push(<Em key="half">{listed(probing)} is being probed</Em>)
  if (tight.length > 0) parts.push(<Em key="tight">{listed(tight.map(({ budget }) => budget))} runs short</Em>)
  if (parts.length === 0) return <Em tone="ok">Nothing is held back by budgets or breakers.</Em>
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part])).concat('.')
}
