// One kind of failure: an example, the trend, who is hit, what changed since, and what was done about it.
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { useKeyHints } from '../../app/key-hints.ts'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { useKeys } from '../../ui/keys.ts'
import { Link } from '../../ui/link.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { Verdict } from '../../ui/verdict.tsx'
import { CanaryPanel } from './canary-panel.tsx'
import { DecideDialog } from './decide-dialog.tsx'
import { Example } from './example.tsx'
import { FailureHead } from './failure-head.tsx'
import { type Decision, GroupActions } from './group-actions.tsx'
import { type Facts, type Group, joined, queryOf } from './groups.ts'
import { Members } from './members.tsx'
import { TenantsHit } from './tenants-hit.tsx'
import { TrendCard } from './trend-card.tsx'
import './failures.css'

const HINTS = [
  { keys: 'c', does: 'canary' },
  { keys: 'a', does: 'acknowledge' },
  { keys: 'n', does: 'note' },
  { keys: 'j k', does: 'next and previous letter' },
  { keys: 'o', does: 'open its job' },
]
const WEEK_HOURS = 168

export function FailureScreen() {
  const { fp } = useParams({ from: '/failures/$fp' })
  const { type } = useSearch({ from: '/failures/$fp' })
  const tenant = useTenant()
  const may = useMay()
  const scope = tenant ? { tenant } : {}
  useTitle(type ?? fp)
  useKeyHints(HINTS)
  const facts = useLive(ask('deadLetters', 'groupFacts', { fingerprints: fp, hours: WEEK_HOURS, ...scope }), {
    topic: 'dead-letters',
  })
  const counted = useLive(ask('deadLetters', 'groups', { limit: 1_000, ...scope }), { topic: 'dead-letters' })
  const operations = useLive(
    { ...ask('bulk', 'list', { limit: 50, ...scope }), enabled: may('bulk.list') },
    { every: 2_000 },
  )
  const mine = facts.data?.groups.filter((each) => type === undefined || each.type === type) ?? []
  const [chosen] = mine
  if (facts.error && !facts.data) return <Trouble error={facts.error} onRetry={facts.refetch} />
  if (!facts.data || !counted.data) return <Reading />
  if (chosen === undefined) return <Unknown fp={fp} />
  const pending = counted.data.groups.filter((group) => group.fingerprint === fp && group.type === chosen.type)
  const [group = settled(chosen)] = joined(pending, mine, operations.data?.operations ?? [])
  const latest = operations.data?.operations.find(
    ({ action, query, undoOf }) => action === 'redrive' && undoOf === null && query === queryOf(group),
  )
  return (
    <Failure
      group={group}
      facts={chosen}
      operationId={latest?.id ?? null}
      others={facts.data.groups.filter((each) => each !== chosen)}
    />
  )
}

/** A kind of which no letter waits any more. */
const settled = (facts: Facts): Group => ({
  ...{ fingerprint: facts.fingerprint, type: facts.type, pending: 0, newestId: '', sampleMessage: '' },
  ...{
    firstDiedAt: '',
    lastDiedAt: '',
    key: facts.fingerprint,
    facts,
    operation: undefined,
    state: 'acknowledged' as const,
  },
})

interface FailureProps {
  group: Group
  facts: Facts
  operationId: string | null
  others: readonly Facts[]
}

function Failure({ group, facts, operationId, others }: FailureProps) {
  const [decision, setDecision] = useState<Decision | null>(null)
  const isOpen = group.pending > 0
  useKeys(
    { c: () => setDecision('redrive'), a: () => setDecision('acknowledge'), n: () => setDecision('note') },
    isOpen,
  )
  return (
    <>
      <FailureHead group={group} facts={facts} />
      {isOpen && (
        <div className="bar">
          <GroupActions group={group} onDecide={setDecision} />
        </div>
      )}
      {operationId && <CanaryPanel id={operationId} />}
      <div className="grid2">
        <div>
          <TrendCard facts={facts} />
          <Example group={group} facts={facts} />
        </div>
        <TenantsHit group={group} facts={facts} others={others} />
      </div>
      <Members fingerprint={facts.fingerprint} type={facts.type} />
      {decision && <DecideDialog group={group} decision={decision} onClose={() => setDecision(null)} />}
    </>
  )
}

const Reading = () => (
  <>
    <Verdict facts={['…']}>Reading this kind of failure</Verdict>
    <div className="panel">
      <SkeletonRows rows={8} />
    </div>
  </>
)

const Trouble = ({ error, onRetry }: { error: unknown; onRetry: () => unknown }) => (
  <>
    <Verdict>This kind of failure could not be read.</Verdict>
    <ErrorState what="The server refused or failed." error={error} onRetry={onRetry} />
  </>
)

const Unknown = ({ fp }: { fp: string }) => (
  <>
    <Verdict>No dead letter has the fingerprint {fp}.</Verdict>
    <div className="panel">
      <EmptyState
        title="It may have been decided about more than seven days ago."
        action={
          <Link className="btn" to="/failures">
            All failures
          </Link>
        }
      >
        <p>Resolved and ignored letters are forgotten then. Or the letters are of a tenant that you may not see.</p>
      </EmptyState>
    </div>
  </>
)
