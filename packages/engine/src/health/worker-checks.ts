// Workers: whether there are any, their leases, memory, event loops and notifications.
import { workerList } from '../store/worker-reports.ts'
import { type Check, degraded, failing } from './check.ts'
import { capitalised, counted, percent, span } from './words.ts'
import type { WorkerVitals } from './worker-vitals.ts'

const MAX_MEMORY = 0.85
const MAX_LAG_MS = 500
/** Of a lease: half of it has passed without a heartbeat. */
const MAX_SILENCE = 0.5

const shown = ({ pid, host }: Pick<WorkerVitals, 'pid' | 'host'>): string =>
  `the worker with pid ${pid} on host ${host}`
const Shown = (worker: Pick<WorkerVitals, 'pid' | 'host'>): string => capitalised(shown(worker))

export const workersAlive: Check = {
  name: 'workers',
  area: 'workers',
  look({ vitals: { workers, queues } }) {
    const due = queues.reduce((sum, queue) => sum + queue.due, 0)
    const remedy = 'Start one: `millrace work MODULE`, or look why the ones you have do not start.'
    const none =
      due > 0
        ? failing(`No worker runs, and ${counted(due, 'job')} could run now.`, remedy)
        : degraded('No worker runs.', remedy)
    const busy = workers.reduce((sum, { running }) => sum + running, 0)
    const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
    return {
      fine: `${capitalised(counted(workers.length, 'worker'))} ${workers.length === 1 ? 'uses' : 'use'} ${busy} of ${counted(slots, 'slot')}.`,
      complaints: workers.length === 0 ? [none] : [],
    }
  },
}

export const leases: Check = {
  name: 'leases',
  area: 'workers',
  async look({ db, vitals: { deaths } }) {
    const late = (await workerList(db)).filter(
      ({ silentMs, heartbeatAt, expiresAt }) => silentMs > MAX_SILENCE * (expiresAt.getTime() - heartbeatAt.getTime()),
    )
    return {
      fine: 'Every worker renews its lease in time, and none has died in the last ten minutes.',
      complaints: [
        ...late.map((worker) =>
          degraded(
            `${Shown(worker)} has sent no heartbeat for ${span(worker.silentMs)}.`,
            'Look whether the process is frozen, starved of CPU or cut off from the database. When its lease ends, its jobs run elsewhere.',
          ),
        ),
        ...deaths.map(({ host, pid, reason }) =>
          degraded(
            `A worker with pid ${pid} on host ${host} died in the last ten minutes: ${reason}.`,
            'Read its last log lines and its exit code: out of memory, a crash, or a lost machine? Its jobs run again elsewhere.',
          ),
        ),
      ],
    }
  },
}

export const memory: Check = {
  name: 'memory',
  area: 'workers',
  look({ vitals: { workers } }) {
    const ratios = workers.flatMap(({ memoryRatio }) => memoryRatio ?? [])
    return {
      fine:
        ratios.length === 0
          ? 'No worker reports its memory.'
          : `Workers use up to ${percent(Math.max(...ratios))} of their memory.`,
      complaints: workers
        .filter(({ memoryRatio }) => (memoryRatio ?? 0) > MAX_MEMORY)
        .map((worker) =>
          degraded(
            `${Shown(worker)} uses ${percent(worker.memoryRatio ?? 0)} of its memory, and takes no more jobs above its own limit.`,
            'Look for a leak in what it ran last, give it more memory, or fewer slots.',
          ),
        ),
    }
  },
}

export const eventLoop: Check = {
  name: 'event_loop',
  area: 'workers',
  look({ vitals: { workers } }) {
    const lags = workers.flatMap(({ loopLagMs }) => loopLagMs ?? [])
    return {
      fine:
        lags.length === 0
          ? 'No worker reports its event loop.'
          : `Event loops of workers are at most ${span(Math.max(...lags))} late.`,
      complaints: workers
        .filter(({ loopLagMs }) => (loopLagMs ?? 0) > MAX_LAG_MS)
        .map((worker) =>
          degraded(
            `The event loop of ${shown(worker)} was ${span(worker.loopLagMs ?? 0)} late.`,
            'Find the handler that computes without a pause. Split its work, or run it with `isolation: "process"`.',
          ),
        ),
    }
  },
}

export const listening: Check = {
  name: 'listen',
  area: 'workers',
  look({ vitals: { workers }, server: { isPooled } }) {
    const deaf = workers.filter(({ isListening }) => isListening === false)
    const remedy = isPooled
      ? 'A connection pooler stands before the database, and LISTEN does not work through one in transaction mode. Give workers an address that leads to the server itself, or set `notify: false` and a `pollInterval` that suits you.'
      : 'Look whether the pulse connections of workers are cut off, for instance by a firewall or a pooler, and at `pg_notification_queue_usage()`.'
    return {
      fine: workers.length === 0 ? 'No worker runs that could listen.' : 'Notifications reach every worker.',
      complaints: deaf.map((worker) =>
        degraded(`Notifications do not reach ${shown(worker)}. It polls, so jobs start up to a second later.`, remedy),
      ),
    }
  },
}
