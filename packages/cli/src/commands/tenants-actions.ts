// What `millrace tenants` does.
import type { Command } from 'commander'
import type { OnExcess, SlotsOptions, Tenant, TenantFilter, TenantLimit, TenantOptions, TenantSlots } from 'millrace'
import { type ClientOptions, withClient } from '../client.ts'
import { Refused } from '../failure.ts'
import { argument, fromNow, oneLine, print, printJson } from '../print.ts'
import { table } from '../table.ts'

interface Decision extends ClientOptions {
  readonly by: string
  readonly reason?: string
}

const quoted = (name: string): string => `"${oneLine(name, 80)}"`

type ListOptions = ClientOptions & Required<Pick<TenantFilter, 'limit'>> & Pick<TenantFilter, 'status' | 'behind'>

export async function list(options: ListOptions, command: Command): Promise<void> {
  const { status, behind, limit: most } = options
  await withClient(command, options, async ({ millrace }) => {
    const filter = { ...(status !== undefined && { status }), ...(behind !== undefined && { behind }), limit: most }
    const tenants = await millrace.tenants.list(filter)
    if (options.json) return printJson(tenants)
    if (tenants.length === 0) return print(emptiness(options))
    print(table(['TENANT', 'STATUS', 'WEIGHT', 'SLOTS', 'CHANGED', 'BY', 'REASON'], tenants.map(cells)))
    const last = tenants.at(-1)?.name ?? ''
    if (tenants.length === most) print(`\nThere may be more: millrace tenants list --behind ${argument(last)}\n`)
  })
}

function emptiness({ status, behind }: ListOptions): string {
  if (behind !== undefined)
    return `No ${status === undefined ? '' : `${status} `}tenant comes after ${quoted(behind)}.\n`
  return status === undefined ? 'There is no tenant yet: no job has had one.\n' : `No tenant is ${status}.\n`
}

function cells({ name, status, weight, minSlots, maxSlots, updatedAt, updatedBy, reason }: Tenant): string[] {
  return [
    oneLine(name, 60),
    status,
    String(weight),
    slotsOf(minSlots, maxSlots),
    updatedBy === null ? '' : fromNow(updatedAt),
    oneLine(updatedBy, 40),
    oneLine(reason, 80),
  ]
}

/** "2 to 10", "at least 2", "at most 10". */
function slotsOf(least: number, most: number | null): string {
  if (most === null) return least === 0 ? '' : `at least ${least}`
  return least === 0 ? `at most ${most}` : `${least} to ${most}`
}

const slotsIn = ({ queue, minSlots, maxSlots }: TenantSlots): string =>
  `${slotsOf(minSlots, maxSlots) || 'as many as are free'} in ${queue}`

export async function show(name: string, options: ClientOptions, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const tenant = await millrace.tenants.get(name)
    if (tenant === undefined) throw new Refused(`There is no tenant ${quoted(name)}: it has never had a job.`)
    const limits = await millrace.tenants.limits(name)
    const slots = await millrace.tenants.slots(name)
    if (options.json) return printJson({ ...tenant, limits, slots })
    print(block(tenant, limits, slots))
  })
}

function block(tenant: Tenant, limits: readonly TenantLimit[], slots: readonly TenantSlots[]): string {
  const lines: [string, string | null][] = [
    ['Tenant', tenant.name],
    ['Status', tenant.reason === null ? tenant.status : `${tenant.status}: ${tenant.reason}`],
    ['Weight', String(tenant.weight)],
    ['Slots', slotsOf(tenant.minSlots, tenant.maxSlots) || null],
    ...slots.map((each): [string, string] => ['Slots', slotsIn(each)]),
    ...limits.map(({ queue, jobs, over }): [string, string] => ['Limit', `${jobs} jobs in ${queue}, then ${over}`]),
    ['Known', `since ${tenant.createdAt.toISOString()}`],
    ['Changed', tenant.updatedBy === null ? null : `${tenant.updatedAt.toISOString()} by ${tenant.updatedBy}`],
  ]
  return lines
    .flatMap(([label, value]) => (value === null ? [] : `${label.padEnd(7)}  ${oneLine(value, 500)}\n`))
    .join('')
}

interface GivenSlots {
  readonly minSlots?: number
  readonly maxSlots?: number | 'none'
}

type SetOptions = Decision & GivenSlots & Pick<TenantOptions, 'weight'>

export async function set(name: string, options: SetOptions, command: Command): Promise<void> {
  const { weight, by } = options
  await withClient(command, options, async ({ millrace }) => {
    const share = { ...(weight !== undefined && { weight }), ...givenSlots(options) }
    const tenant = await millrace.tenants.set(name, share, { by })
    if (options.json) return printJson(tenant)
    print(block(tenant, await millrace.tenants.limits(name), await millrace.tenants.slots(name)))
  })
}

const givenSlots = ({ minSlots, maxSlots }: GivenSlots): SlotsOptions => ({
  ...(minSlots !== undefined && { minSlots }),
  ...(maxSlots !== undefined && { maxSlots: maxSlots === 'none' ? null : maxSlots }),
})

export async function setSlots(
  name: string,
  queue: string,
  options: Decision & GivenSlots,
  command: Command,
): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    await millrace.tenants.setSlots(name, queue, givenSlots(options), { by: options.by })
    const slots = await millrace.tenants.slots(name)
    if (options.json) return printJson(slots)
    const lines = slots.map((each) => `  ${oneLine(slotsIn(each), 200)}\n`)
    print(`Slots of tenant ${quoted(name)}:\n${lines.join('')}`)
  })
}

export async function unsetSlots(name: string, queue: string, options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const wasSet = await millrace.tenants.unsetSlots(name, queue, { by: options.by })
    if (!wasSet) process.exitCode = 1
    if (options.json) return printJson({ tenant: name, queue, wasSet })
    const where = `${oneLine(queue, 80)} for tenant ${quoted(name)}`
    if (wasSet) print(`The slots in ${where} are the tenant's own again.\n`)
    else print(`No slots in ${where} were set: \`millrace tenants show ${argument(name)}\` lists what is.\n`)
  })
}

export async function limit(
  name: string,
  queue: string,
  options: Decision & { jobs: number; over: OnExcess },
  command: Command,
): Promise<void> {
  const { jobs, over, by } = options
  await withClient(command, options, async ({ millrace }) => {
    await millrace.tenants.limit(name, queue, { jobs, over }, { by })
    const limits = await millrace.tenants.limits(name)
    if (options.json) return printJson(limits)
    print(`Tenant ${quoted(name)} may have ${jobs} jobs in ${oneLine(queue, 80)}. ${BEYOND[over]}\n`)
  })
}

export async function unlimit(name: string, queue: string, options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const wasSet = await millrace.tenants.unlimit(name, queue, { by: options.by })
    if (!wasSet) process.exitCode = 1
    if (options.json) return printJson({ tenant: name, queue, wasSet })
    const where = `${oneLine(queue, 80)} for tenant ${quoted(name)}`
    if (wasSet) print(`The limit of ${where} is as the queue says again.\n`)
    else print(`No limit of ${where} was set: \`millrace tenants show ${argument(name)}\` lists what is.\n`)
  })
}

const BEYOND = {
  warn: 'More are queued, with a warning.',
  reject: 'More are refused.',
  defer: 'More wait until it has fewer.',
} as const

const reasonOf = ({ reason }: Decision) => (reason === undefined ? {} : { reason })

export async function suspend(name: string, options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    const tenant = await millrace.tenants.suspend(name, { by: options.by, ...reasonOf(options) })
    if (options.json) return printJson(tenant)
    print(`Tenant ${quoted(name)} is suspended. Resume it with: millrace tenants resume ${argument(name)}\n`)
  })
}

export async function resume(name: string, options: Decision, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    if ((await millrace.tenants.get(name)) === undefined)
      throw new Refused(`There is no tenant ${quoted(name)}: \`millrace tenants\` lists those that are known.`)
    const tenant = await millrace.tenants.resume(name, { by: options.by })
    if (options.json) printJson(tenant)
    else print(`Tenant ${quoted(name)} is active: its jobs run.\n`)
  })
}

export async function remove(name: string, options: Decision & { yes?: true }, command: Command): Promise<void> {
  await withClient(command, options, async ({ millrace }) => {
    if (!options.yes)
      throw new Refused(`All jobs of tenant ${quoted(name)} would be cancelled. If that is meant, say --yes.`)
    if ((await millrace.tenants.get(name)) === undefined)
      throw new Refused(`There is no tenant ${quoted(name)}: \`millrace tenants\` lists those that are known.`)
    const deleted = await millrace.tenants.delete(name, { by: options.by, ...reasonOf(options) })
    if (options.json) return printJson(deleted)
    const { cancelled, requested } = deleted
    const stopping = requested === 0 ? '' : ` ${requested} run and were asked to stop.`
    print(`Tenant ${quoted(name)} is deleted, and ${cancelled} of its jobs are cancelled.${stopping}\n`)
  })
}
