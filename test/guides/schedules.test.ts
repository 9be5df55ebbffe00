import {
  createMillrace,
  type Implementation,
  implement,
  type JobContract,
  type Millrace,
  type Schedule,
} from 'millrace'
import { drain, fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { setup, silent } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Operator {
  inTrouble(millrace: Millrace): Promise<string[]>
  repair(millrace: Millrace, name: string, from: Date, to: Date): Promise<unknown>
}

async function guideProgram() {
  const t = await setup()
  const guide = await openDocument('docs/guides/schedules.md')
  const contracts = await guide.load<Record<string, JobContract>>('contracts.ts')
  const { schedules } = await guide.load<{ schedules: Schedule[] }>('schedules.ts')
  const runs: { type: string; payload: unknown }[] = []
  const handlers = Object.values(contracts).map((contract) =>
    implement(contract, async (payload) => void runs.push({ type: contract.type, payload })),
  )
  return {
    ...t,
    guide,
    jobs: Object.values(contracts),
    schedules,
    handlers,
    runs,
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]()
      await guide[Symbol.asyncDispose]()
    },
  }
}

test('the schedules of the guide fire as it says', async () => {
  await using t = await guideProgram()
  const { jobs, schedules, handlers, runs } = t
  // In New York it is 22:00 of a Wednesday: by the hour.
  const clock = fakeClock('2026-12-24T03:00:00Z')
  await using millrace = createMillrace({ database: t.url, jobs, schedules, clock, logger: silent })
  await t.sql(`insert into millrace.tenant (name, status) values ('acme', 'active'), ('late', 'suspended')`)
  await drain(millrace, handlers, { advance: '4h' })
  const of = (type: string) => runs.filter((run) => run.type === type).map(({ payload }) => payload)
  expect(of('report.sales')).toEqual([{ from: null, to: '2026-12-24T06:00:00.000Z' }])
  const weather = of('weather.fetch') as { what: string }[]
  expect(weather.filter(({ what }) => what === 'forecast')).toHaveLength(4)
  expect(weather.filter(({ what }) => what === 'alerts')).toHaveLength(16)
  // From 22:00 to 02:00; the jitter of the last one is still to come.
  expect(await t.sql(`select 1 from millrace.schedule_tick where schedule = 'tenant-sync'`)).toHaveLength(5)
  expect(of('tenant.sync')).toEqual(Array(4).fill({ tenant: 'acme' }))

  clock.moveTo('2026-12-25T06:00:00Z')
  await drain(millrace, handlers)
  const { ticks } = await millrace.schedules.get('sales-report')
  expect(ticks[0]).toMatchObject({ outcome: 'skipped', reason: 'a holiday' })

  const { inTrouble, repair } = await t.guide.load<Operator>('operator.ts')
  expect(await inTrouble(millrace)).toEqual([])
  const range = [new Date('2026-12-20T00:00:00Z'), new Date('2026-12-22T00:00:00Z')] as const
  expect(await repair(millrace, 'sales-report', ...range)).toMatchObject({ fires: 2, enqueued: 2 })
  const { followCity } = await t.guide.load<{ followCity(...args: unknown[]): Promise<unknown> }>('create.ts')
  expect(await followCity(millrace, 'oslo', 'Europe/Oslo')).toMatchObject({ name: 'weather-oslo', source: 'runtime' })
})

test('the worker of the guide declares its schedules', async () => {
  await using t = await guideProgram()
  type StartWorker = (database: string, handlers: readonly Implementation[]) => Promise<Millrace>
  const { startWorker } = await t.guide.load<{ startWorker: StartWorker }>('worker.ts')
  const millrace = await startWorker(t.url, t.handlers)
  expect((await millrace.schedules.list()).map(({ name, status }) => [name, status])).toEqual([
    ['sales-report', 'active'],
    ['tenant-sync', 'active'],
    ['weather-alerts', 'active'],
    ['weather-forecast', 'active'],
  ])
  await millrace.close()
})
