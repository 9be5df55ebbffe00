// The sample traffic of `millrace dev`.
import { expect, test } from 'vitest'
import { startTraffic, Traffic } from '#src/sandbox/traffic'
import { setup } from '../support/lipas.ts'

test('places are confirmed, every fourth moves, and it moves back before another one does', async () => {
  await using t = await setup({ hasSampleData: true })
  const east = async () =>
    new Map(
      (
        await t.sql<{ id: number; east: number }>(
          `select lipas_id as id, (bounds[0])[0] as east from lipas.sports_site`,
        )
      ).map(({ id, east: metres }) => [id, metres]),
    )
  const before = await east()
  const moved = async () =>
    [...(await east())].map(([id, metres]) => metres - (before.get(id) ?? 0)).filter((by) => Math.abs(by) > 1)
  const traffic = new Traffic(t.system)
  for (let i = 0; i < 3; i++) await traffic.save()
  expect(await moved()).toEqual([])
  await traffic.save()
  expect(await moved()).toEqual([expect.closeTo(40, 1)])
  const [elevations] = await t.sql(
    `select count(*)::int from millrace.jobs where type = 'elevation' and created_by = 'sample traffic'`,
  )
  expect(elevations).toEqual({ count: 1 })
  for (let i = 0; i < 4; i++) await traffic.save()
  expect(await moved()).toEqual([])
})

test('it saves by itself until it is ended, and nothing in an empty register', async () => {
  await using t = await setup()
  const end = startTraffic(t.system, 5)
  await t.sql(`insert into lipas.site_type values (2210, 'Sports hall', 'Point')`)
  await t.sql(
    `insert into lipas.sports_site (lipas_id, type_code, name, geometries, bounds) values (7, 2210, 'Hall',
     '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[25,60.2]}}]}',
     '((1,1),(1,1))')`,
  )
  const saves = async () => (await t.sql(`select 1 from millrace.jobs where created_by = 'sample traffic'`)).length
  await expect.poll(saves).toBeGreaterThan(2)
  await end()
  const count = await saves()
  expect(await saves()).toBe(count)
})
