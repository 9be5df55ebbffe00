// Who holds the slots that the job waits for, and its place in the line.
import { ask } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { Link } from '../../ui/link.tsx'
import { Duration } from '../../ui/text/figures.tsx'
import { counted } from '../../ui/text/format.ts'
import { quoted } from '../jobs/query-text.ts'
import type { JobDetails } from './actions.tsx'
import type { Explanation } from './estimate.ts'

const SHOWN = 6
const MOST_CELLS = 60

export function Holders({ job, why }: { job: JobDetails; why: Explanation }) {
  const may = useMay()
  const isWaiting = why.ahead !== null
  const q = `status:processing queue:${quoted(job.queue)}`
  const running = useLive(
    { ...ask('jobs', 'list', { q, limit: 200, order: 'oldest' }), enabled: isWaiting, retry: false },
    { every: 3_000 },
  ).data
  const lanes = useLive(
    { ...ask('catalogue', 'lanes', {}), enabled: isWaiting && may('catalogue.lanes') },
    { every: 10_000 },
  ).data
  if (running === undefined) return null
  const slots = lanes?.lanes
    .filter(({ queues }) => queues.includes(job.queue))
    .reduce((sum, lane) => sum + lane.slots, 0)
  const isOwn = (tenant: string | null) => tenant === job.tenant
  const own = running.jobs.filter(({ tenant }) => isOwn(tenant))
  const holders = why.reasons.some(({ mechanism }) => mechanism === 'share') ? own : running.jobs
  return (
    <>
      <Cells own={own.length} others={running.jobs.length - own.length} slots={slots ?? null} job={job} />
      {holders.length > 0 && (
        <table>
          <caption>
            {holders === own ? `The jobs of ${job.tenant} that hold its slots` : `What runs in ${job.queue} now`},
            longest first
          </caption>
          <thead>
            <tr>
              <th scope="col">job</th>
              <th scope="col">type</th>
              <th scope="col">tenant</th>
              <th scope="col" className="r">
                for
              </th>
            </tr>
          </thead>
          <tbody>
            {holders.slice(0, SHOWN).map(({ id, type, tenant, startedAt }) => (
              <tr key={id}>
                <th scope="row">
                  <Link to={`/jobs/${id}`} className="mono">
                    {id}
                  </Link>
                </th>
                <td className="mono">{type}</td>
                <td>{tenant ?? <span className="faint">none</span>}</td>
                <td className="r">{startedAt && <Duration since={startedAt} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {holders.length > SHOWN && (
        <p className="note">
          <Link to={`/jobs?q=${encodeURIComponent(q)}`}>{holders.length - SHOWN} more</Link>
        </p>
      )}
      {why.ahead !== null && why.ahead.own > 0 && (
        <p className="line">
          <Link
            to={`/jobs?q=${encodeURIComponent(`status:pending queue:${quoted(job.queue)}${job.tenant === null ? '' : ` tenant:${quoted(job.tenant)}`} due:<now`)}`}
          >
            {counted(why.ahead.own, 'due job')}
          </Link>{' '}
          {why.ahead.own === 1 ? 'comes' : 'come'} first, by priority and age.
        </p>
      )}
    </>
  )
}

function Cells({ own, others, slots, job }: { own: number; others: number; slots: number | null; job: JobDetails }) {
  const total = Math.max(slots ?? 0, own + others)
  if (total === 0 || total > MOST_CELLS) return null
  const idle = total - own - others
  const whose = job.tenant ?? 'work without tenant'
  const kinds = [...Array(own).fill('own'), ...Array(others).fill('oth'), ...Array(idle).fill('')] as string[]
  return (
    <>
      <div
        className="cells"
        role="img"
        aria-label={`The ${total} slots of ${job.queue}: ${own} held by ${whose}, ${others} by others, ${idle} idle`}
      >
        {kinds.map((kind, slot) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: slots are all alike
          <i key={slot} className={kind} />
        ))}
      </div>
      <p className="legend">
        <span>
          <i className="own" />
          {whose}, {own}
        </span>
        <span>
          <i className="oth" />
          others, {others}
        </span>
        {idle > 0 && (
          <span>
            <i className="idle" />
            idle, {idle}
          </span>
        )}
      </p>
    </>
  )
}
