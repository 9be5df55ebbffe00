// When a waiting job may be expected to start, and from what that is reckoned.
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useNow } from '../../ui/text/clock.ts'
import { counted, formatDuration } from '../../ui/text/format.ts'
import type { JobDetails } from './actions.tsx'
import { type Explanation, isFreedByRuns, paceMs } from './estimate.ts'

export function ExpectedStart({ job, why }: { job: JobDetails; why: Explanation }) {
  const now = useNow()
  if (why.expectedAt === null && isFreedByRuns(why)) return <AfterRuns job={job} why={why} />
  if (why.expectedAt === null) {
    const isStuck = why.reasons.some(({ until }) => until === null)
    return isStuck ? (
      <Told start="not by itself" note="What holds it does not end by itself: it needs one of these." />
    ) : (
      <Told
        start="unknown"
        note="Nothing has ended in this queue in the last five minutes, so there is nothing to reckon with."
      />
    )
  }
  const ms = Date.parse(why.expectedAt) - now
  return (
    <Told
      start={ms < 1_000 ? 'any moment' : about(ms)}
      note={
        why.ahead &&
        `${first(why.ahead.own)}; ${counted(why.ahead.ended, 'job')} of this queue ended in the last five minutes.`
      }
    />
  )
}

/** Its tenant, or a limit, has a place again whenever one of the runs that hold it ends. */
function AfterRuns({ job: { queue, tenant }, why: { ahead } }: { job: JobDetails; why: Explanation }) {
  const may = useMay()
  const { data } = useQuery({
    ...ask('queues', 'fairness', { queue, tenant: tenant ?? '' }),
    enabled: tenant !== null && may('queues.fairness'),
    staleTime: 5_000,
  })
  const runs = data?.top.find((each) => each.tenant === tenant)?.runs ?? 0
  const ms = ahead && data && paceMs({ before: ahead.own + 1, runs, spanMs: data.spanMs })
  const pace = ms === null || ms === undefined ? '' : `; ${counted(runs, 'run')} of it ended in the last ten minutes`
  return (
    <Told
      start={pace === '' ? 'when a run ends' : about(ms as number)}
      note={`Each run that ends frees a place. ${first(ahead?.own ?? 0)}${pace}.`}
    />
  )
}

const about = (ms: number) => `in about ${formatDuration(Math.max(1, Math.round(ms / 1_000)) * 1_000)}`

const first = (own: number) =>
  own === 0
    ? 'No job of its tenant comes first'
    : `${counted(own, 'job')} of its tenant ${own === 1 ? 'comes' : 'come'} first`

const Told = ({ start, note }: { start: string; note: string | null }) => (
  <>
    <p className="est">{start}</p>
    {note !== null && <p className="note">{note}</p>}
  </>
)
