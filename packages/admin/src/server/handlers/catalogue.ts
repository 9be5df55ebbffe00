// What workers declare, and the audit log.
import { type CatalogueEntry, UnknownJobType } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { newestFirst, tenantsToList } from '../caller.ts'
import { given, type Route, route } from '../route.ts'
import { eachTenant } from './jobs.ts'

const { catalogue, audit } = contract
const PAGE = 50

const body = (entry: CatalogueEntry) => ({ ...entry, document: { ...entry.document } })

interface LaneLoad {
  name: string
  queues: string[]
  workers: number
  slots: number
  running: number
  buffered: number
}

export const catalogueRoutes: readonly Route[] = [
  route(catalogue.list, async ({ kind }, { millrace }) => ({
    entries: (await millrace.catalogue.list(kind)).map(body),
  })),

  route(catalogue.jobTypes, async (_, { millrace }) => ({ types: (await millrace.catalogue.list('type')).map(body) })),

  route(catalogue.jobType, async ({ type }, { millrace }) => {
    const entry = await millrace.catalogue.get('type', type)
    if (entry !== undefined) return body(entry)
    throw new UnknownJobType(
      type,
      (await millrace.catalogue.list('type')).map(({ name }) => name),
    )
  }),

  route(catalogue.lanes, async (_, { millrace }) => {
    const lanes = new Map<string, LaneLoad>()
    for (const { report } of await millrace.workers.list()) {
      for (const { name, queues, slots, running, buffered } of report?.lanes ?? []) {
        const lane = lanes.get(name) ?? { name, queues: [], workers: 0, slots: 0, running: 0, buffered: 0 }
        lanes.set(name, {
          name,
          queues: [...new Set([...lane.queues, ...queues])].sort(),
          workers: lane.workers + 1,
          slots: lane.slots + slots,
          running: lane.running + running,
          buffered: lane.buffered + buffered,
        })
      }
    }
    return { lanes: [...lanes.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }),

  route(audit.list, async ({ tenant, limit = PAGE, ...filter }, { millrace, caller }) => {
    const lists = await eachTenant(tenantsToList(caller, tenant), (each) =>
      millrace.audit.list({ ...given({ ...filter, tenant: each }), limit }),
    )
    const entries = newestFirst(lists, limit)
    return { entries, next: entries.length === limit ? (entries.at(-1)?.id ?? null) : null }
  }),
]
