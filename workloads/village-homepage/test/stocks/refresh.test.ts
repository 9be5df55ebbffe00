import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { setup, type Village, type VillageSetup } from '../support/setup.ts'

/** A Wednesday in session, in the middle of a minute. */
const IN_SESSION = '2026-11-18T15:00:30Z'
const NO_PAUSES = { VILLAGECOMPUTE_STOCKS_REQUEST_INTERVAL: '0' }

async function stocks(options: VillageSetup & { at?: string } = {}) {
  let now = new Date(options.at ?? IN_SESSION)
  const clock = { now: () => now }
  const t = await setup({ clock, sandbox: { now: clock.now }, ...options, env: { ...NO_PAUSES, ...options.env } })
  return {
    ...t,
    moveTo(at: string | Date) {
      now = new Date(at)
    },
    run: (payload: { symbols?: string[] } = {}) =>
      runJob(t.handler('STOCK_REFRESH'), payload, { millrace: t.millrace }),
  }
}

const quotes = (t: Village) =>
  t.sql<{ symbol: string; source: string }>('select symbol, source from village.stock_quotes order by symbol')

test('a new village gets a quote of each symbol at once, whatever the hour', async () => {
  await using t = await stocks({ at: '2026-11-18T06:00:00Z' })
  expect(await t.run()).toMatchObject({
    outcome: 'completed',
    result: { session: 'after_hours', source: 'alpha-vantage', refreshed: 5, stale: 0, requests_left: 20 },
  })
  expect(await quotes(t)).toHaveLength(5)
})

test('a day of ticks asks at most 25 times, spread over the day, and what is left is served as it is kept', async () => {
  await using t = await stocks({ at: '2026-11-17T06:00:00Z' })
  await t.run() // The day before: all symbols have a quote.
  const ticks = ticksOf('2026-11-18')
  const asked: string[] = []
  for (const at of ticks) {
    t.moveTo(at)
    const before = t.sandbox.alphaVantage.requests
    const run = await t.run()
    expect(run.outcome).toBe('completed')
    const { requests } = t.sandbox.alphaVantage
    for (let i = requests < before ? 0 : before; i < requests; i++) asked.push(at.toISOString())
  }
  expect(asked).toHaveLength(25)
  const inSession = asked.filter((at) => at >= '2026-11-18T14:30' && at <= '2026-11-18T21:00:01')
  expect(inSession).toHaveLength(20)
  expect(new Set(inSession).size).toBe(20)
  const { requests } = t.sandbox.alphaVantage
  const late = await t.run({ symbols: ['AAPL'] })
  expect(late).toMatchObject({ outcome: 'completed', result: { refreshed: 0, stale: 5, requests_left: 0 } })
  expect(t.sandbox.alphaVantage.requests).toBe(requests)
}, 60_000)

test('the limit of the service uses up the day: quotes are stale, and the job completes', async () => {
  await using t = await stocks()
  await t.run()
  t.sandbox.set('alpha-vantage', 'limited')
  t.moveTo('2026-11-18T17:00:30Z')
  expect(await t.run()).toMatchObject({
    outcome: 'completed',
    result: { refreshed: 0, stale: 5, requests_left: 0 },
  })
  t.sandbox.set('alpha-vantage', 'ok')
  const calls = t.sandbox.received.count('alpha-vantage')
  expect(await t.run()).toMatchObject({ outcome: 'completed', result: { refreshed: 0 } })
  expect(t.sandbox.received.count('alpha-vantage')).toBe(calls)
})

test('a service that is down is asked once for each attempt, and gives the request back', async () => {
  await using t = await stocks()
  t.sandbox.set('alpha-vantage', 'down')
  const run = await t.run()
  expect(run).toMatchObject({ outcome: 'retry', failure: { message: 'Alpha Vantage answered 503' } })
  expect(t.sandbox.received.count('alpha-vantage')).toBe(1)
  expect(await t.sql('select used from village.provider_usage')).toEqual([{ used: 0 }])
})

test('a symbol that the service does not know is not asked for again on that day', async () => {
  await using t = await stocks({ env: { VILLAGECOMPUTE_STOCKS_SYMBOLS: 'AAPL,NOT-A-NAME' } })
  expect(await t.run()).toMatchObject({ outcome: 'completed', result: { refreshed: 1, requests_left: 23 } })
  t.moveTo('2026-11-18T16:00:30Z')
  expect(await t.run()).toMatchObject({ outcome: 'completed', result: { refreshed: 1, requests_left: 22 } })
  t.moveTo('2026-11-19T16:00:30Z')
  expect(await t.run()).toMatchObject({ outcome: 'completed', result: { refreshed: 1, requests_left: 23 } })
})

test('the fallback source has all quotes in one call, knows the change of the day, and uses no request', async () => {
  await using t = await stocks({ env: { VILLAGECOMPUTE_STOCKS_SOURCE: 'stooq' } })
  t.sandbox.set('alpha-vantage', 'down')
  expect(await t.run()).toMatchObject({
    outcome: 'completed',
    result: { source: 'stooq', refreshed: 5, stale: 0, requests_left: 25 },
  })
  expect(t.sandbox.received.count('stooq')).toBe(1)
  const [quote] = await t.sql('select price, previous_close, change, trading_day::text from village.stock_quotes')
  expect(Number(quote?.price) - Number(quote?.previous_close)).toBeCloseTo(Number(quote?.change), 3)
  expect(quote?.trading_day).toBe('2026-11-18')
})

test('an answer in another form is an error, and nothing of it is kept', async () => {
  await using t = await stocks({ env: { VILLAGECOMPUTE_STOCKS_SOURCE: 'stooq' } })
  t.sandbox.set('stooq', 'limited')
  expect(await t.run()).toMatchObject({ outcome: 'completed', result: { refreshed: 0, stale: 5 } })
  expect(await quotes(t)).toEqual([])
})

/** As the schedule has them: see schedule.test.ts. */
function ticksOf(day: string): Date[] {
  const midnight = Date.parse(`${day}T05:00:00Z`)
  const minutes = [
    ...Array.from({ length: 24 }, (_, hour) => hour * 60),
    ...Array.from({ length: 79 }, (_, i) => 9 * 60 + 30 + i * 5),
  ]
  return [...new Set(minutes)].sort((a, b) => a - b).map((minute) => new Date(midnight + minute * 60_000))
}
