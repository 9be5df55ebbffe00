import { calendar, defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { saidBy } from './support/in-process.ts'
import { setup } from './support/setup.ts'

const preview = (...args: string[]) => saidBy(['schedules', 'preview', ...args])
const MARCH = ['--tz', 'America/New_York', '--from', '2026-03-07T00:00:00Z', '--count', '3']

test('the fires of an expression are shown in UTC and beside it in local time', async () => {
  const { code, out } = await preview('30 2 * * *', ...MARCH)
  expect(code).toBe(0)
  expect(out.split('\n')).toEqual([
    'at 02:30 every day, America/New_York',
    '',
    'UTC                       America/New_York',
    '2026-03-07T07:30:00.000Z  Sat 2026-03-07 02:30:00 GMT-5',
    '2026-03-08T07:00:00.000Z  Sun 2026-03-08 03:00:00 GMT-4',
    '2026-03-09T06:30:00.000Z  Mon 2026-03-09 02:30:00 GMT-4',
    '',
  ])
})

test('they are printed as JSON, too', async () => {
  const { out } = await preview('0 0 8 * * ?', ...MARCH, '--json')
  expect(JSON.parse(out)).toEqual({
    timing: { kind: 'cron', expression: '0 0 8 * * ?', timeZone: 'America/New_York' },
    description: 'at 08:00 every day, America/New_York',
    fires: [
      { at: '2026-03-07T13:00:00.000Z', local: 'Sat 2026-03-07 08:00:00 GMT-5' },
      { at: '2026-03-08T12:00:00.000Z', local: 'Sun 2026-03-08 08:00:00 GMT-4' },
      { at: '2026-03-09T12:00:00.000Z', local: 'Mon 2026-03-09 08:00:00 GMT-4' },
    ],
  })
})

test('an interval is counted from the given time', async () => {
  const { out } = await preview('--every', '15m', '--from', '2026-03-07T00:00:00Z', '--count', '2')
  expect(out).toBe('every 15 minutes\n\nUTC\n2026-03-07T00:15:00.000Z\n2026-03-07T00:30:00.000Z\n')
})

test('it is said when there are no more fires', async () => {
  const after = await preview('0 0 8 31 12 ? 2026', '--from', '2026-03-07T00:00:00Z')
  expect(after.out).toMatch(/2026-12-31T08:00:00\.000Z\n\nThen it does not fire any more\.\n$/)
  const none = await preview('0 0 8 31 12 ? 2025', '--from', '2026-03-07T00:00:00Z')
  expect(none.out).toMatch(/\n\nFrom then on it does not fire any more\.\n$/)
})

test('a schedule is previewed by its name, with the rules and holidays of its calendar', async () => {
  const { main } = defineQueues({ main: {} })
  const job = defineJob({ type: 'report', queue: main, payload: z.object({}) })
  await using t = await setup({ jobs: [job] })
  const when = calendar({
    timeZone: 'Europe/Helsinki',
    rules: [{ days: 'mon-fri', from: '09:00', to: '10:00', every: '1h' }],
    holidays: ['2026-12-25'],
  })
  await t.millrace.schedules.create({ name: 'markets', type: 'report', when, payload: {}, by: 'ann' })
  const named = ['schedules', 'preview', 'markets', '--from', '2026-12-24T00:00:00Z', '--count', '3']
  const { code, out } = await t.run(...named)
  expect(code).toBe(0)
  expect(out.split('\n').slice(2)).toEqual([
    'UTC                       Europe/Helsinki',
    '2026-12-24T07:00:00.000Z  Thu 2026-12-24 09:00:00 GMT+2',
    '2026-12-24T08:00:00.000Z  Thu 2026-12-24 10:00:00 GMT+2',
    '2026-12-28T07:00:00.000Z  Mon 2026-12-28 09:00:00 GMT+2',
    '',
  ])
  const json = JSON.parse((await t.run(...named, '--json', '--tz', 'UTC')).out)
  expect(json).toMatchObject({
    timing: { kind: 'calendar' },
    fires: [{ local: expect.stringMatching(/^Thu 2026-12-24 07:00:00/) }, {}, {}],
  })
  expect((await t.run(...named, '--tz', 'Helsinki')).err).toMatch(/Did you mean "Europe\/Helsinki"\?/)
  const unknown = await t.run('schedules', 'preview', 'marktes')
  expect(unknown).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/Did you mean "markets"/) })
})

test.each([
  [['30 25 * * *'], /its hour field has "25".*Expected 0 to 23/],
  [['0 8 * * *', '--tz', 'Helsinki'], /Did you mean "Europe\/Helsinki"\?/],
  [['--every', '15m', '--tz', 'Helsinki'], /Did you mean "Europe\/Helsinki"\?/],
  [[], /Give either an expression, quoted, like '0 8 \* \* \*', or an interval/],
  [['0 8 * * *', '--every', '15m'], /Give either an expression/],
  [['0', '8', '*', '*', '*'], /too many arguments/],
  [['0 8 * * *', '--from', 'tomorrow'], /Expected a time such as/],
  [['--every', '1ms'], /a second is the least/],
])('what cannot be previewed is explained: %j', async (args, message) => {
  expect(await preview(...args)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) })
})

test('the help tells how clocks count and shows examples', async () => {
  const { out } = await preview('--help')
  expect(out).toMatch(/a fixed time that they skip fires at the end of the gap/)
  expect(out).toMatch(/Examples:\n {2}millrace schedules preview '0 8 \* \* \*' --tz Europe\/Helsinki/)
})
