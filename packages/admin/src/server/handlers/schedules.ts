import { type Millrace, type ScheduleState, UnknownSchedule } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { type Caller, hasRole, maySee } from '../caller.ts'
import { given, type Route, route } from '../route.ts'

const { schedules } = contract

function shown<S extends ScheduleState>(caller: Caller, schedule: S): Omit<S, 'payload'> {
  if (hasRole(caller, 'operator')) return schedule
  const { payload: _, ...rest } = schedule
  return rest
}

/** A schedule belongs to the tenant of its jobs. */
const isOwn = (caller: Caller, { options }: ScheduleState) => maySee(caller, options.tenant)

async function visible(millrace: Millrace, caller: Caller, name: string) {
  const schedule = await millrace.schedules.get(name).catch((error: unknown) => {
    // It suggests names, also those of other tenants.
    throw error instanceof UnknownSchedule && caller.tenants !== null ? new UnknownSchedule(name, []) : error
  })
  if (!isOwn(caller, schedule)) throw new UnknownSchedule(name, [])
  return schedule
}

export const scheduleRoutes: readonly Route[] = [
  route(schedules.list, async (_, { millrace, caller }) => {
    const all = await millrace.schedules.list()
    return { schedules: all.filter((each) => isOwn(caller, each)).map((each) => shown(caller, each)) }
  }),

  route(schedules.get, async ({ name }, { millrace, caller }) => shown(caller, await visible(millrace, caller, name))),

  route(schedules.preview, async ({ name, count, from }, { millrace, caller }) => {
    await visible(millrace, caller, name)
    const start = from === undefined ? undefined : new Date(from)
    return { fires: await millrace.schedules.preview(name, given({ count, from: start })) }
  }),

  route(schedules.run, async ({ name }, { millrace, caller, by }) => {
    await visible(millrace, caller, name)
    return millrace.schedules.run(name, { by })
  }),

  route(schedules.pause, async ({ name, reason, until, for: time }, { millrace, caller, by }) => {
    await visible(millrace, caller, name)
    const end = { until: until === undefined ? undefined : new Date(until), for: time as `${number}m` | undefined }
    return shown(caller, await millrace.schedules.pause(name, { by, reason, ...given(end) }))
  }),

  route(schedules.resume, async ({ name }, { millrace, caller, by }) => {
    await visible(millrace, caller, name)
    return shown(caller, await millrace.schedules.resume(name, { by }))
  }),

  route(schedules.edit, async ({ name, when }, { millrace, caller, by }) => {
    await visible(millrace, caller, name)
    return shown(caller, await millrace.schedules.edit(name, { by, when: when && given(when) }))
  }),

  route(schedules.remove, async ({ name }, { millrace, caller, by }) => {
    await visible(millrace, caller, name)
    await millrace.schedules.remove(name, { by })
    return { removed: true as const }
  }),

  route(schedules.backfill, async ({ name, from, to, force = false }, { millrace, caller, by }) => {
    await visible(millrace, caller, name)
    return millrace.schedules.backfill(name, { by, from: new Date(from), to: new Date(to), force })
  }),
]
