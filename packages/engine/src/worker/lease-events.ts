// What a worker does when something is the matter with its lease, and with what its pulse hears and sees.
import type { Herald } from '../client/herald.ts'
import type { Waker } from '../client/waker.ts'
import { LeaseLost } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { Advancer } from '../workflow/advancer.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Fetcher } from './fetcher.ts'
import { IgnoredNotifications } from './ignored-notifications.ts'
import type { KeyAdmissions } from './key-admissions.ts'
import type { Lease, LeaseEvents } from './lease.ts'
import type { Reconciler } from './reconciler.ts'
import type { Reporter } from './reporter.ts'
import type { Requests } from './requests.ts'
import type { WakeUps } from './wake-ups.ts'

/** Read when something happens: the lease is there before the others are. */
export interface LeaseListeners {
  readonly lease: Lease
  readonly dispatcher: Dispatcher
  readonly fetcher: Fetcher
  readonly reconciler: Reconciler
  readonly admissions: KeyAdmissions
  readonly wakeUps: WakeUps
  readonly reporter: Reporter
  readonly requests: Requests
}

export interface LeaseEventServices {
  events: Events
  logger: Logger
  herald: Herald
  advancer: Advancer
  waker: Waker
  onError(during: string, error: unknown): void
}

export function leaseEvents(parts: LeaseListeners, services: LeaseEventServices): LeaseEvents {
  const { events, logger, herald, advancer, waker, onError } = services
  const ignored = new IgnoredNotifications(services)
  return {
    report: () => parts.reporter.read(),
    onAsked: (request) => parts.requests.heard(request),
    onLost: (workerId, why) => {
      logger.error({ worker: workerId, why }, 'the lease is lost: running jobs were aborted')
      parts.dispatcher.abortAll(new LeaseLost(why))
      parts.dispatcher.returnUnstarted('the lease is lost')
      events.emit('lease_lost', { workerId, why })
    },
    onDoubt: () => {
      logger.warn({ worker: parts.lease.id }, 'the lease could not be renewed in time: running jobs are aborted')
      parts.dispatcher.abortAll(new LeaseLost('its lease could not be renewed in time'))
    },
    onTrusted: () => parts.fetcher.wake(),
    onRunning: (rows, sentAtMs) => {
      // Whoever cannot be told learns it so.
      if (!parts.wakeUps.isListenTrusted) parts.wakeUps.rules()
      parts.reconciler.reconcile(rows, sentAtMs).catch((error: unknown) => onError('reconcile', error))
    },
    onHeard: (message) => {
      if (message.kind === 'work' && message.from !== waker.token) parts.wakeUps.work(message.queue)
      if (message.kind === 'rules') parts.wakeUps.rules()
      if (message.kind === 'schedules') parts.wakeUps.schedules()
      if (message.kind === 'await') herald.remember(message.ids)
      if (message.kind === 'workflows') void advancer.told(message.ids)
      if (message.kind === 'key') parts.admissions.heardOf(message.key)
    },
    onIgnored: (count, why) => ignored.report(count, why),
    onListening: (isTrusted) => parts.wakeUps.listening(isTrusted),
    onBlocked: (ms) => {
      events.emit('loop_blocked', { ms })
      logger.warn({ ms }, 'the event loop is blocked; unstarted jobs are given back')
    },
    onError,
    onWatch: () => parts.dispatcher.returnStale(),
  }
}
