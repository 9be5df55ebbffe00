import { every } from 'millrace'
import { expect, test } from 'vitest'
import { fixture } from './support/program.ts'
import { setup as base } from './support/setup.ts'

const module = ['--module', fixture('scheduled.js')]

async function setup() {
  const { default: workload } = await import(fixture('scheduled.js'))
  const t = await base(workload)
  return { ...t, handlers: workload.handlers, run: (...args: string[]) => t.run('schedules', ...args) }
}

test('schedules of the code are listed, shown, run, paused, resumed and backfilled', async () => {
  await using t = await setup()
  expect(await t.run()).toMatchObject({ code: 0, out: expect.stringContaining('There is no schedule.') })
  await (await t.millrace.work({ handlers: t.handlers })).stop()

  const { out } = await t.run('list')
  expect(out).toMatch(/^NAME +TYPE +WHEN +STATUS +NEXT\n/)
  expect(out).toMatch(/yearly +report +cron 0 0 1 1 \*, UTC +active +in \d+d/)
  expect(await t.run('run', 'yearly', ...module)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Enqueued job \d+\.\n/),
  })
  expect(await t.run('pause', 'yearly', '--reason', 'no data', '--for', '2h', '--by', 'ann')).toMatchObject({
    code: 0,
    out: 'Schedule "yearly" is paused. It ends in 2h.\n',
  })
  expect((await t.run()).out).toMatch(/paused +in \d+d +enqueued (now|\d+s ago) +paused by ann: no data/)
  expect(JSON.parse((await t.run('resume', 'yearly', '--json')).out)).toMatchObject({ status: 'active', pause: null })
  const range = ['--from', '2024-01-01T00:00:00Z', '--to', '2026-01-01T00:00:00Z']
  expect(await t.run('backfill', 'yearly', ...range, ...module)).toMatchObject({
    code: 0,
    out: '3 fire times: 3 enqueued, 0 ticked before, 0 skipped, 0 failed.\n',
  })
  const shown = (await t.run('show', 'yearly')).out
  expect(shown).toMatch(/^name +yearly\njob +report\nsource +code, as/)
  expect(shown).toMatch(/2024-01-01T00:00:00.000Z +backfill +enqueued +\d+/)
  const { ticks } = JSON.parse((await t.run('show', 'yearly', '--json')).out)
  expect(ticks).toHaveLength(4)
})

test('others are created and removed at the command line', async () => {
  await using t = await setup()
  const payload = ['--type', 'report', '--payload', '{"year":1}', ...module]
  expect(await t.run('create', 'probe', ...payload, '--cron', '0 8 * * *', '--tz', 'Europe/Helsinki')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Schedule "probe" fires at 08:00 every day, Europe\/Helsinki: next \d{4}-/),
  })
  const created = await t.run('create', 'often', ...payload, '--every', '15m', '--overlap', 'skip', '--json')
  expect(JSON.parse(created.out)).toMatchObject({ source: 'runtime', options: { overlap: 'skip' } })
  expect(await t.run('create', 'bad', ...payload)).toMatchObject({
    code: 1,
    err: expect.stringContaining('--every 15m'),
  })
  expect(await t.run('create', 'bad', ...payload, '--every', '1m', '--payload', '{"year":"x"}')).toMatchObject({
    code: 1,
    err: expect.stringContaining('year'),
  })
  expect(await t.run('remove', 'probe')).toMatchObject({ code: 0, out: 'Schedule "probe" is removed.\n' })
  expect(await t.run('remove', 'offten')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Did you mean "often"?'),
  })
  expect((await t.millrace.schedules.list()).map(({ name }) => name)).toEqual(['often'])
})

test('schedules are edited at the command line', async () => {
  await using t = await setup()
  await (await t.millrace.work({ handlers: t.handlers })).stop()
  expect(await t.run('edit', 'yearly', '--cron', '0 8 * * *')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Schedule "yearly" fires at 08:00 every day, UTC: next \d{4}-/),
  })
  expect(JSON.parse((await t.run('edit', 'yearly', '--as-code', '--json')).out)).toMatchObject({ isEdited: false })
  expect(await t.run('edit', 'yearly')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Nothing is to be edited'),
  })
  expect(await t.run('edit', 'yearly', '--overlap', 'skip')).toMatchObject({
    code: 1,
    err: expect.stringContaining('only `when` can be edited'),
  })
  const when = every('1h')
  await t.millrace.schedules.create({ name: 'often', type: 'report', payload: { year: 1 }, when, by: 'ann' })
  expect(await t.run('edit', 'often', '--every', '2h')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Pass --module'),
  })
  const edited = ['--every', '2h', '--payload', '{"year":2}', '--missed', 'all', '--json', ...module]
  expect(JSON.parse((await t.run('edit', 'often', ...edited)).out)).toMatchObject({
    ...{ description: 'every 2 hours', payload: { year: 2 }, options: { missed: 'all' } },
  })
})

test('what needs the code says so', async () => {
  await using t = await setup()
  expect(await t.run('run', 'yearly')).toMatchObject({ code: 1, err: expect.stringContaining('Pass --module') })
  expect((await t.run('--help')).out).toMatch(/preview.*\n[\s\S]*Examples:\n {2}millrace schedules /)
})
