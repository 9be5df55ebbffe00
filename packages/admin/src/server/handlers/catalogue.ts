// What workers declare, and the audit log.
import { type CatalogueEntry, type Millrace, UnknownJobType } from 'millrace'
import type { z } from 'zod'
import { contract } from '../../contract/operations.ts'
import { type Caller, newestFirst, nextOf, tenantsToList } from '../caller.ts'
import { csvResponse } from '../csv.ts'
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

  route(audit.list, async ({ limit = PAGE, ...filter }, { millrace, caller }) => {
    const entries = await auditPage(millrace, caller, { ...filter, limit })
    return { entries, next: nextOf(entries, limit) }
  }),

  route(audit.csv, ({ limit, before: first, ...filter }, { millrace, caller }) =>
    csvResponse({
      ...{ kind: 'audit', goOn: 'before', limit },
      async page(before = first, most) {
        const rows = await auditPage(millrace, caller, { ...filter, before, limit: most })
        return { rows, next: nextOf(rows, most) }
      },
    }),
  ),
]

type AuditQuery = Omit<z.output<typeof audit.list.input>, 'limit'> & { readonly limit: number }

async function auditPage(millrace: Millrace, caller: Caller, { tenant, limit, ...filter }: AuditQuery) {
  const lists = await eachTenant(tenantsToList(caller, tenant), (each) =>
    millrace.audit.list({ ...given({ ...filter, tenant: each }), limit }),
  )
  return newestFirst(lists, limit)
}
