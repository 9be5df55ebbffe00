// A card for each queue, in its colour.
import { ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Slots } from '../../ui/chart/meter.tsx'
import { Sparkline } from '../../ui/chart/sparkline.tsx'
import { Link } from '../../ui/link.tsx'
import { useQueueClass } from '../../ui/queue-colour.ts'
import { Badge } from '../../ui/status-badge.tsx'
import { Duration, Quantity } from '../../ui/text/figures.tsx'
import { counted, formatDuration, formatNumber } from '../../ui/text/format.ts'
import { drainMs, type QueueState } from './queue-state.ts'

const MOST = 10
/** So that no card stands alone in its row. */
const columnsFor = (cards: number): number => (cards <= 5 ? Math.max(3, cards) : Math.ceil(cards / 2))
const RANK = { unserved: 0, late: 1, paused: 2, 'on time': 3, idle: 4 }
const ICON = { unserved: 'fail', late: 'late', paused: 'held', 'on time': 'ok', idle: 'none' } as const

export function QueueCards({ states }: { states: readonly QueueState[] }) {
  const isMany = states.length > MOST
  // Few queues keep their places, so that eyes find them; of many the worst are shown.
  const shown = isMany
    ? [...states].sort((a, b) => RANK[a.state] - RANK[b.state] || b.vitals.due - a.vitals.due)
    : states
  return (
    <section aria-labelledby="queues">
      <h2 id="queues" className="vh">
        Queues
      </h2>
      <div className="queues" style={{ ['--columns' as string]: columnsFor(Math.min(MOST, shown.length)) }}>
        {shown.slice(0, MOST).map((state) => (
          <QueueCard key={state.vitals.queue} {...state} />
        ))}
      </div>
      {isMany && (
        <p className="more-queues">
          <Link to="/queues">{counted(states.length - MOST, 'more queue')}</Link>
        </p>
      )}
    </section>
  )
}

function QueueCard({ vitals, state, tone, slots }: QueueState) {
  const { queue, waiting, due, running, oldestDueMs, latencyP95Ms, slaMs } = vitals
  const colour = useQueueClass(queue)
  const { finished, perMinute } = useThroughput(queue)
  const drain = drainMs(due, perMinute)
  return (
    <article className={`card ${colour}`}>
      <h3>
        <Link className="plain" to={`/queues/${encodeURIComponent(queue)}`}>
          {queue}
        </Link>
        <Badge tone={tone} icon={ICON[state]} as="tag">
          {state}
        </Badge>
      </h3>
      <p className="big">
        <Quantity value={waiting} /> <small>waiting</small>
      </p>
      <dl>
        <dt title="From due to the end of the first attempt, 95 of 100 jobs of the last five minutes">p95 to done</dt>
        <dd>
          <Duration ms={latencyP95Ms} />
        </dd>
        <dt>SLA</dt>
        <dd>{slaMs === null ? 'best effort' : formatDuration(slaMs)}</dd>
        <dt>oldest due</dt>
        <dd className={tone === 'late' || tone === 'fail' ? 't-late' : ''}>
          <Duration ms={oldestDueMs} none="none" />
        </dd>
      </dl>
      <Sparkline values={finished} label={`Jobs a minute that ended in ${queue}, over the last hour`} />
      <Slots used={Math.min(running, slots)} of={slots} label={`${running} of ${slots} slots in use`} />
      <p className="row">
        <span>
          {running} of {counted(slots, 'slot')}
        </span>
        <span title="Jobs that ended, of the last five minutes">{formatNumber(Math.round(perMinute))}/min</span>
      </p>
      <p className="row drain">
        {drain === null ? (
          <span>{due === 0 ? 'nothing is due' : 'none ends: no estimate'}</span>
        ) : (
          <span>drained in {formatDuration(drain)}</span>
        )}
      </p>
    </article>
  )
}

/** By minute of the last hour, and the mean of the last five. */
function useThroughput(queue: string): { finished: readonly number[]; perMinute: number } {
  const { data } = useLive(ask('reports', 'series', { since: '1h', step: 'minute', queue }), { every: 20_000 })
  const finished = data?.points.map((point) => point.finished) ?? []
  const last = finished.slice(-6, -1)
  return { finished, perMinute: last.reduce((sum, count) => sum + count, 0) / Math.max(1, last.length) }
}
