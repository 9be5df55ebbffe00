// As little as each operation needs, for tests that walk over all of them.
import type { Endpoint } from '@millrace/admin/contract'

/** Ids and names of things that belong to one tenant. */
export interface Things {
  readonly job: string
  readonly letter: string
  readonly workflow: string
  readonly schedule: string
  readonly tenant: string
  readonly bulk: string
  readonly type?: string
  readonly correlation?: string
}

/** A request that concerns these things. */
export function leastRequest(
  { name, endpoint }: { name: string; endpoint: Endpoint },
  things: Things,
): { line: string; body: object | undefined } {
  return {
    line: `${endpoint.method} ${pathOf(endpoint, things)}${queries[name] ?? ''}`,
    body: endpoint.method === 'GET' ? undefined : bodyOf(name, endpoint, things),
  }
}

/** A path whose parameters name a thing of the owner. */
function pathOf({ path }: Endpoint, things: Things): string {
  const [, room = ''] = /^\/admin\/api\/([\w-]+)/.exec(path) ?? []
  const named: Record<string, string | undefined> = {
    jobs: things.job,
    'dead-letters': things.letter,
    workflows: things.workflow,
    schedules: things.schedule,
    bulk: things.bulk,
    correlations: things.correlation ?? 'shared',
  }
  return path.replace(/:(\w+)/g, (_, name: string) => {
    if (name === 'tenant') return encodeURIComponent(things.tenant)
    return encodeURIComponent(named[room] ?? (name === 'type' ? (things.type ?? 'MAIL') : '1'))
  })
}

/** As little as each operation needs. */
const bodies: Record<string, object> = {
  'jobs.enqueue': { job_type: 'MAIL', payload: {} },
  'jobs.fail': { reason: 'test' },
  'jobs.prioritise': { priority: 3 },
  'jobs.prune': { olderThan: '300d' },
  'bulk.preview': { action: 'cancel', query: 'type:NONE' },
  'bulk.start': { action: 'cancel', query: 'type:NONE' },
  'deadLetters.prune': { olderThan: '300d' },
  'schedules.pause': { reason: 'test' },
  'schedules.edit': { when: null },
  'schedules.backfill': { from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
  'budgets.adjust': { limit: 5 },
  'tenants.suspend': { reason: 'test' },
  'tenants.delete': { reason: 'test' },
  'tenants.limit': { jobs: 5, over: 'warn' },
  'workers.quiet': { reason: 'test' },
  'workers.stop': { reason: 'test' },
  'limits.set': { running: 5 },
  'pauses.set': { queue: 'mail', reason: 'test' },
  'pauses.end': { queue: 'mail' },
  'keys.continue': { queue: 'mail', key: 'k' },
  'access.createToken': { name: 'made by the walk' },
  'workflows.signal': { payload: {} },
  'alerts.silence': { reason: 'test', for: '1h' },
  'escalations.acknowledge': { ids: ['1'] },
  'escalations.resend': { ids: ['1'] },
  'escalations.test': { channel: 'ops' },
}

const queries: Record<string, string> = {
  'stream.open': '?topics=jobs',
  'jobs.search': '?q=type:MAIL',
  'jobs.count': '?q=type:MAIL',
  'jobs.timeline': '?q=type:MAIL&from=2026-01-01T00:00:00Z&to=2126-01-01T00:00:00Z',
  'jobs.suggest': '?q=tenant:&position=7',
  'deadLetters.groupFacts': '?fingerprints=abcdef',
  'deadLetters.groupVersions': '?fingerprint=abcdef&type=DOOMED',
  'reports.runs': '?since=24h',
  'reports.series': '?since=24h&step=hour',
  'reports.queues': '?since=24h&step=hour',
}

function bodyOf(name: string, { path }: Endpoint, things: Things): object {
  if (/^actions\..*DeadLetter/.test(name)) return { 'dead-letter-ids': [things.letter] }
  if (/dead-letters\/(acknowledge|redrive|resolve|ignore|note)$/.test(path))
    return { ids: [things.letter], ...(path.endsWith('note') && { note: 'n' }) }
  return bodies[name] ?? {}
}
