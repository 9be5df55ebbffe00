import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { stormUntil } from '#sandbox/weather'
import { setup } from '../support/setup.ts'

async function weather() {
  let now = new Date('2026-11-18T10:00:00Z')
  const clock = { now: () => now }
  const t = await setup({ clock, sandbox: { now: clock.now } })
  return {
    ...t,
    moveTo(at: string) {
      now = new Date(at)
    },
    run: (kind: 'forecast' | 'alerts') => runJob(t.handler('WEATHER_REFRESH'), { kind }, { millrace: t.millrace }),
    calls: () => t.sandbox.received.calls.map(({ what }) => what),
  }
}

test('each place has its forecast from its own service, and where that is, is asked once', async () => {
  await using t = await weather()
  expect(await t.run('forecast')).toMatchObject({ outcome: 'completed', result: { refreshed: 2, stale: 0 } })
  const rows = await t.sql(
    'select name, current, days from village.weather_forecasts join village.weather_locations on id = location_id order by name',
  )
  expect(rows).toMatchObject([
    { name: 'Montpelier', current: { unit: 'F' }, days: { length: 7 } },
    { name: 'Reykjavik', current: { unit: 'C' }, days: { length: 7 } },
  ])
  expect(rows[0]?.days[0]).toMatchObject({ date: '2026-11-18', high: expect.any(Number), low: expect.any(Number) })
  await t.run('forecast')
  expect(t.calls().filter((call) => call.startsWith('GET /points/'))).toEqual(['GET /points/44.2601,-72.5754'])
})

test('alerts are asked for the places of the Weather Service only, and one that is no longer told has ended', async () => {
  await using t = await weather()
  t.sandbox.weather.alerts.push(stormUntil(new Date('2026-11-18T12:00:00Z')))
  expect(await t.run('alerts')).toMatchObject({ result: { refreshed: 1, alerts_new: 1, alerts_ended: 0 } })
  expect(await t.run('alerts')).toMatchObject({ result: { refreshed: 1, alerts_new: 0, alerts_ended: 0 } })
  expect(t.calls().filter((call) => call.includes('64.1466'))).toEqual([])
  t.moveTo('2026-11-18T12:30:00Z')
  expect(await t.run('alerts')).toMatchObject({ result: { alerts_new: 0, alerts_ended: 1 } })
  expect(await t.sql('select event, ended_at is not null as ended from village.weather_alerts')).toEqual([
    { event: 'Severe Thunderstorm Warning', ended: true },
  ])
})

test('a place whose service is down keeps its forecast, and the run completes', async () => {
  await using t = await weather()
  await t.run('forecast')
  t.moveTo('2026-11-18T11:00:00Z')
  t.sandbox.set('nws', 'down')
  expect(await t.run('forecast')).toMatchObject({ outcome: 'completed', result: { refreshed: 1, stale: 1 } })
  expect(await t.sql('select fetched_at from village.weather_forecasts order by 1')).toEqual([
    { fetched_at: new Date('2026-11-18T10:00:00Z') },
    { fetched_at: new Date('2026-11-18T11:00:00Z') },
  ])
})

test('a run fails if every place failed', async () => {
  await using t = await weather()
  t.sandbox.set('nws', 'down')
  t.sandbox.set('open-meteo', 'limited')
  expect(await t.run('forecast')).toMatchObject({
    outcome: 'retry',
    failure: { message: 'The National Weather Service answered 503' },
  })
})

test('while the breaker of a service is open, what is kept is served and nothing is asked', async () => {
  await using t = await weather()
  await t.run('forecast')
  await t.run('alerts')
  await t.millrace.breakers.trip('nws', { by: 'test' })
  const before = t.sandbox.received.count('nws')
  expect(await t.run('alerts')).toMatchObject({ outcome: 'completed', result: { refreshed: 0, stale: 1 } })
  expect(t.sandbox.received.count('nws')).toBe(before)
})

test('a place that the configuration no longer has is gone, with its forecast', async () => {
  await using t = await weather()
  await t.run('forecast')
  const { followPlaces } = await import('#src/weather/weather-store')
  const [first] = t.parts.config.weather.locations
  await followPlaces(t.parts.database, {
    ...t.parts.config,
    weather: { ...t.parts.config.weather, locations: [{ ...first, latitude: 44.5 } as never] },
  })
  expect(await t.sql('select name, latitude::float8, nws_forecast_url from village.weather_locations')).toEqual([
    { name: 'Montpelier', latitude: 44.5, nws_forecast_url: null },
  ])
  expect(await t.sql('select from village.weather_forecasts')).toHaveLength(1)
})
