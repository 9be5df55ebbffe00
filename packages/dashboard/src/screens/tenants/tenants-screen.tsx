// Tenants: who gets what share of a queue, who waits how long, and which rule holds whom.
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTitle } from '../../app/title.ts'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { CommandLine } from '../../ui/code-block.tsx'
import { useGo } from '../../ui/link.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { counted } from '../../ui/text/format.ts'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { AllTenants } from './all-tenants.tsx'
import { type Fairness, multiple, nameOf, noisiest, ruleName, unfair } from './fairness.ts'
import { FairnessPicture } from './fairness-picture.tsx'
import { RulesTable } from './rules-table.tsx'
import { ShareTable } from './share-table.tsx'
import './tenants.css'

const SYSTEM = /^millrace(\.|$)/
const MOST_TABS = 8
/** Without an SLA an hour is late, as for the health check. */
export const PATIENCE_MS = 3_600_000

export function TenantsScreen() {
  useTitle('Tenants')
  const may = useMay()
  const { queue } = useSearch({ strict: false }) as { queue?: string }
  const known = useLive(ask('tenants', 'list', { limit: 1 }), { every: 30_000 })
  if (known.data?.tenants.length === 0) return <NoTenants />
  return (
    <>
      {may('queues.fairness') ? (
        <Sharing asked={queue}>
          <AllTenants />
        </Sharing>
      ) : (
        <>
          <Verdict>Tenants</Verdict>
          <AllTenants />
        </>
      )}
    </>
  )
}

function NoTenants() {
  return (
    <>
      <Verdict>No work belongs to a tenant yet.</Verdict>
      <EmptyState title="Nothing is shared so far">
        <p>
          Jobs that are enqueued with a <span className="mono">tenant</span> share their queue fairly: each tenant gets
          slots by its weight, and one with a million jobs does not slow down one with ten. To see two tenants at work,
          in a clone of Millrace:
        </p>
        <CommandLine command="npm run start:tenants" />
      </EmptyState>
    </>
  )
}

/** What stands below comes with it: it would be pushed down. */
function Sharing({ asked, children }: { asked: string | undefined; children: ReactNode }) {
  const vitals = useLive(ask('health', 'vitals', {}), { topic: 'vitals' })
  const queues = (vitals.data?.queues ?? []).filter(({ queue }) => !SYSTEM.test(queue))
  const busiest = [...queues].sort((a, b) => b.waiting + b.running - (a.waiting + a.running))[0]?.queue
  const queue = asked ?? busiest
  const fairness = useLive({ ...ask('queues', 'fairness', { queue: queue ?? '' }), enabled: queue !== undefined })
  if (fairness.error && !fairness.data)
    return (
      <>
        <ErrorState what="The shares could not be read." error={fairness.error} onRetry={fairness.refetch} />
        {children}
      </>
    )
  if (!fairness.data || queue === undefined) return <Loading />
  const slaMs = queues.find((each) => each.queue === queue)?.slaMs ?? null
  return (
    <>
      <SharingVerdict fairness={fairness.data} slaMs={slaMs} />
      <QueueChoice queues={queues.map(({ queue: name, waiting }) => ({ name, waiting }))} chosen={queue} />
      {fairness.data.working === 0 ? (
        <EmptyState title={`No tenant has work in ${queue}`}>
          <p>Nothing waits or runs there, and nothing has in the last ten minutes.</p>
        </EmptyState>
      ) : (
        <>
          <FairnessPicture fairness={fairness.data} slaMs={slaMs} />
          <ShareTable fairness={fairness.data} />
          <RulesTable fairness={fairness.data} />
        </>
      )}
      {children}
    </>
  )
}

export function SharingVerdict({ fairness, slaMs }: { fairness: Fairness; slaMs: number | null }) {
  const { queue, working, idle, slots, running } = fairness
  const late = unfair(fairness, slaMs ?? PATIENCE_MS)
  const loud = noisiest(fairness)
  const rule = fairness.rules.find((each) => each.rule !== 'fair share' && each.rule !== 'none')
  const facts = [
    `${counted(working, 'tenant')} with work, ${idle} idle`,
    slots === 0 ? 'no worker serves it' : `${running} of ${counted(slots, 'slot')} in use`,
    'last 10 minutes',
  ]
  return (
    <Verdict facts={facts}>
      {working === 0 ? (
        <>Nobody has work in {queue}.</>
      ) : late === 0 ? (
        <>
          {queue} is shared <Em tone="ok">fairly</Em>.
        </>
      ) : (
        <>
          In {queue} <Em>{counted(late, 'tenant')}</Em> {late === 1 ? 'waits' : 'wait'} too long without asking for
          much.
        </>
      )}
      {rule && (
        <>
          {' '}
          <Em>{counted(rule.tenants, 'tenant')}</Em> {rule.tenants === 1 ? 'waits' : 'wait'} for {ruleName(rule)}.
        </>
      )}
      {loud && (
        <>
          {' '}
          <Em>{nameOf(loud.tenant)}</Em> asks for {multiple(loud.asks)} its share and delays itself.
        </>
      )}
    </Verdict>
  )
}

function QueueChoice({ queues, chosen }: { queues: readonly { name: string; waiting: number }[]; chosen: string }) {
  const { go } = useGo()
  const to = (queue: string) => `/tenants?queue=${encodeURIComponent(queue)}`
  if (queues.length <= MOST_TABS) {
    const tabs = queues.map(({ name, waiting }) => ({ key: name, label: name, count: waiting, to: to(name) }))
    return (
      <div className="bar">
        <Tabs label="Queue" tabs={tabs} chosen={chosen} />
      </div>
    )
  }
  return (
    <div className="bar">
      <label className="find">
        Queue
        <select value={chosen} onChange={(event) => go(to(event.target.value))}>
          {queues.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </div>
  )
}

const Loading = () => (
  <>
    <h1 className="verdict" aria-busy="true">
      <span className="vh">Reading who gets what</span>
      <Skeleton width="60%" height={26} />
    </h1>
    <div className="panel">
      <Skeleton height={330} />
    </div>
  </>
)
