// The analysis of places on the sample municipality, in straight lines.
import { randomUUID } from 'node:crypto'
import { drain } from 'millrace/testing'
import { assert, expect, test } from 'vitest'
import { writeCells } from '#src/diversity/cells'
import { type SiteChange, saveSite } from '#src/registry/save-site'
import { expectBruteForce, storedCells } from '../support/brute-force.ts'
import { type Lipas, setup } from '../support/lipas.ts'

const EUCLID = { LIPAS_DISTANCE_MODE: 'euclid' }
const run = (t: Lipas, lipasId: number) => t.run('analysis', { 'lipas-id': lipasId }, { dedupKey: randomUUID() })
const save = (t: Lipas, lipasId: number, change: SiteChange) =>
  saveSite(t.system, { ...{ lipasId, change, by: 'test', correlationId: 'test' }, at: new Date() })

test('the diversity of squares equals that of plain computing, also after a place was moved away', async () => {
  await using t = await setup({ hasSampleData: true, env: EUCLID })
  expect((await run(t, 123)).outcome).toBe('completed')
  await expectBruteForce(t, { isPartial: true })
  const before = await storedCells(t)
  expect(before.size).toBeGreaterThan(100)
  // Out of reach of most squares that name it.
  const lipasId = await mostNamed(t)
  await save(t, lipasId, { move: { east: 2_200, north: 2_100 } })
  const moved = await run(t, lipasId)
  assert(moved.outcome === 'completed', JSON.stringify(moved))
  await expectBruteForce(t, { isPartial: true })
  const after = await storedCells(t)
  expect([...before.values()].filter(({ cellId, index }) => (after.get(cellId)?.index ?? 0) < index)).not.toEqual([])
})

test('a place that is closed lowers exactly the squares within its reach', async () => {
  await using t = await setup({ hasSampleData: true, env: EUCLID })
  await run(t, 123)
  const closed = await mostNamed(t)
  await run(t, closed)
  const before = await storedCells(t)
  await save(t, closed, { status: 'out-of-service-permanently' })
  expect((await run(t, closed)).outcome).toBe('completed')
  await expectBruteForce(t, { isPartial: true })
  const after = await storedCells(t)
  const lowered = [...before.values()].filter(({ cellId, index }) => (after.get(cellId)?.index ?? 0) < index)
  expect(lowered).not.toEqual([])
  const far = await t.sql(
    `select cell_id from lipas.population_cell, lipas.sports_site
     where cell_id = any($1) and lipas_id = $2 and centre <-> bounds[0] >= 800`,
    [lowered.map(({ cellId }) => cellId), closed],
  )
  expect(far).toEqual([])
  expect(before.size).toBe(after.size)
})

/** The point that is the nearest of its kind for most squares. */
async function mostNamed(t: Lipas): Promise<number> {
  const [row] = await t.sql<{ id: number }>(
    `select (each.value ->> 'lipas-id')::int as id
     from lipas.diversity_cell, jsonb_each(nearest) each
     join lipas.sports_site on lipas_id = (each.value ->> 'lipas-id')::int
     where geometries #>> '{features,0,geometry,type}' = 'Point'
     group by 1 order by sum((categories ->> each.key)::numeric) desc, 1 limit 1`,
  )
  return row?.id ?? 0
}

test('the summary of the municipality and the index of squares follow, and few people are not counted', async () => {
  await using t = await setup({ hasSampleData: true, env: EUCLID })
  const report = await run(t, 123)
  assert(report.outcome === 'completed', JSON.stringify(report))
  const cells = await t.sql<{ id: string; index: number; people: number }>(
    `select cell_id as id, index::float8 as index, population as people
     from lipas.diversity_cell join lipas.population_cell using (cell_id)`,
  )
  const mean = cells.reduce((sum, { index }) => sum + index, 0) / cells.length
  const people = cells.reduce((sum, { people }) => sum + people, 0)
  const weighted = cells.reduce((sum, { index, people }) => sum + index * people, 0) / people
  expect(report.result).toMatchObject({ cells: cells.length, mode: 'euclid', 'mean-before': null })
  const [summary] = await t.sql<Record<string, string>>('select * from lipas.diversity_summary')
  expect(summary).toMatchObject({ municipality: 'Kaislajoki', cells: cells.length })
  expect(Number(summary?.mean)).toBeCloseTo(mean, 3)
  expect(Number(summary?.weighted_mean)).toBeCloseTo(weighted, 3)
  const few = cells.filter((cell) => cell.people < 10)
  expect(few.length).toBeGreaterThan(0)
  for (const cell of cells) {
    const { source, version } = t.sandbox.search.document('lipas-squares', cell.id) ?? { source: {}, version: 0 }
    expect(source).toMatchObject({ index: cell.index, population: cell.people < 10 ? null : cell.people })
    expect(version).toBeGreaterThan(0)
  }
  expect(t.sandbox.search.document('lipas-sites', '123')?.source).toMatchObject({ 'lipas-id': 123, status: 'active' })
})

test('squares that were computed from an older register replace neither newer rows nor newer documents', async () => {
  await using t = await setup({ hasSampleData: true, env: EUCLID })
  const [cell] = await t.sql<{ id: string }>('select cell_id as id from lipas.population_cell limit 1')
  const write = (index: number, computedFrom: number) => {
    const score = { index, categories: {}, nearest: {} }
    const cells = [{ cellId: cell?.id ?? '', centre: [0, 0] as const, population: null, score }]
    return writeCells(t.system.database, cells, { computedFrom, jobId: '1' })
  }
  await write(3, 20)
  await write(9, 19)
  const index = async () => (await t.sql('select index::int, computed_from::int from lipas.diversity_cell'))[0]
  expect(await index()).toEqual({ index: 3, computed_from: 20 })
  await write(4, 20)
  expect(await index()).toEqual({ index: 4, computed_from: 20 })
})

test('if the search service fails, the analysis fails, and goes on at its next batch', async () => {
  await using t = await setup({ hasSampleData: true, env: EUCLID })
  const { search } = t.sandbox
  const real = search.answer.bind(search)
  let bulks = 0
  search.answer = (call) => {
    const isBulk = call.path.endsWith('/_bulk')
    if (isBulk) bulks += 1
    return isBulk && bulks === 2 ? { status: 503, body: 'down' } : real(call)
  }
  const { id } = await t.millrace.enqueueByType('analysis', { 'lipas-id': 123 })
  const [first] = await drain(t.millrace, [t.handler('analysis')])
  expect(first).toMatchObject({ outcome: 'retry', failure: { message: 'The search service answered 503.' } })
  const written = search.bulkItems
  expect(written).toBe(50)
  await t.millrace.runNow(id, { by: 'test' })
  const [second] = await drain(t.millrace, [t.handler('analysis')])
  assert(second?.outcome === 'completed', JSON.stringify(second))
  const { cells } = second.result as { cells: number }
  expect(cells).toBeGreaterThan(100)
  // The first batch was not sent again.
  expect(search.bulkItems).toBe(cells)
  expect(search.count('lipas-squares')).toBe(cells)
})

test('only those squares are sent to the search service again that it was too busy for', async () => {
  await using t = await setup({ hasSampleData: true, env: EUCLID })
  const { search } = t.sandbox
  const sent = new Map<string, number>()
  search.rejectsItem = (id) => {
    sent.set(id, (sent.get(id) ?? 0) + 1)
    return sent.size <= 50 && sent.size % 2 === 0 && sent.get(id) === 1
  }
  const report = await run(t, 123)
  assert(report.outcome === 'completed', JSON.stringify(report))
  const { cells } = report.result as { cells: number }
  expect(search.bulkItems).toBe(cells + 25)
  expect(search.count('lipas-squares')).toBe(cells)
})

test('an unknown place is dead at once', async () => {
  await using t = await setup()
  expect(await run(t, 424_242)).toMatchObject({ outcome: 'dead', failure: { message: /no place 424242/ } })
})
