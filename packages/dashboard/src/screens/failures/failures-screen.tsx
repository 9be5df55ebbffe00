// Failures: dead letters by kind, and what to do about each kind.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useKeyHints } from '../../app/key-hints.ts'
import { useTitle } from '../../app/title.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { FilterChips } from '../../ui/filter-chips.tsx'
import { useGo } from '../../ui/link.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { DecideDialog } from './decide-dialog.tsx'
import { DecidedLetters } from './decided-letters.tsx'
import { FailuresVerdict } from './failures-verdict.tsx'
import type { Decision } from './group-actions.tsx'
import { GroupTable } from './group-table.tsx'
import type { Group } from './groups.ts'
import { Heat } from './heat.tsx'
import { PruneDialog } from './prune-dialog.tsx'
import { RunningRedrives } from './running-redrives.tsx'
import { useGroups } from './use-groups.ts'
import './failures.css'

const HINTS = [
  { keys: 'j k', does: 'next and previous kind' },
  { keys: 'o', does: 'open' },
  { keys: 'c', does: 'canary' },
  { keys: 'a', does: 'acknowledge' },
  { keys: 'n', does: 'note' },
]

export function FailuresScreen() {
  useTitle('Failures')
  useKeyHints(HINTS)
  const { state = 'all', queue } = useSearch({ from: '/failures' })
  const { go } = useGo()
  const { counted, groups, isCut } = useGroups(queue)
  const [deciding, setDeciding] = useState<{ group: Group; decision: Decision } | null>(null)
  const decide = (group: Group, decision: Decision) => setDeciding({ group, decision })
  const shown = state === 'all' ? groups : groups.filter((group) => group.state === state)
  return (
    <>
      <FailuresVerdict groups={groups} isPending={counted.isPending} isCut={isCut} />
      <div className="bar">
        <StateTabs groups={groups} state={state} />
        <Prune />
      </div>
      {queue && <FilterChips filters={[{ name: 'queue', value: queue, onRemove: () => go('/failures') }]} />}
      {counted.error && (
        <ErrorState what="The failures could not be read." error={counted.error} onRetry={counted.refetch} />
      )}
      <RunningRedrives groups={groups} />
      {state === 'decided' ? (
        <DecidedLetters />
      ) : (
        <Card flush className="groups">
          {counted.isPending ? (
            <SkeletonRows rows={7} height={44} />
          ) : groups.length === 0 ? (
            <AllCalm />
          ) : (
            <GroupTable groups={shown} onDecide={decide} />
          )}
        </Card>
      )}
      <Heat />
      {deciding && <DecideDialog {...deciding} onClose={() => setDeciding(null)} />}
    </>
  )
}

const AllCalm = () => (
  <EmptyState title="Nothing is dead.">
    <p>
      A job becomes a dead letter when its last attempt has failed, or when its handler says that it cannot succeed. It
      stays here, grouped with those that failed alike, until somebody decides.
    </p>
  </EmptyState>
)

function StateTabs({ groups, state }: { groups: readonly Group[]; state: string }) {
  const count = (of: string) => groups.filter((group) => group.state === of).length
  return (
    <Tabs
      label="Kinds of failure by state"
      chosen={state}
      tabs={[
        { key: 'all', label: 'All that wait', count: groups.length, to: '/failures' },
        { key: 'new', label: 'New', count: count('new'), isBad: true, to: '/failures?state=new' },
        {
          key: 'acknowledged',
          label: 'Acknowledged',
          count: count('acknowledged'),
          to: '/failures?state=acknowledged',
        },
        { key: 'redriving', label: 'Redriving', count: count('redriving'), to: '/failures?state=redriving' },
        { key: 'decided', label: 'Decided', to: '/failures?state=decided' },
      ]}
    />
  )
}

function Prune() {
  const may = useMay()
  const [isOpen, setOpen] = useState(false)
  if (!may('deadLetters.prune')) return null
  return (
    <>
      <Button onClick={() => setOpen(true)}>Prune…</Button>
      {isOpen && <PruneDialog onClose={() => setOpen(false)} />}
    </>
  )
}
