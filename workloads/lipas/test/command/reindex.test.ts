// `lipas reindex`, as a process.
import { expect, test } from 'vitest'
import { ran } from '../support/command.ts'
import { setup } from '../support/lipas.ts'

test('an index that was lost is written again from the register, and what is newer in it stays', async () => {
  await using t = await setup({ hasSampleData: true, env: { LIPAS_DISTANCE_MODE: 'euclid' } })
  await t.run('elevation', { 'lipas-id': 123 })
  const report = await t.run('analysis', { 'lipas-id': 123 })
  const { cells } = (report as unknown as { result: { cells: number } }).result
  const { search } = t.sandbox
  const [square] = await t.sql<{ id: string }>('select cell_id as id from lipas.diversity_cell order by 1 limit 1')
  const stored = () => [search.document('lipas-sites', '123'), search.document('lipas-squares', square?.id ?? '')]
  const before = stored()
  // The index was lost, and a job has written a newer document since.
  search.clear()
  await t.system.search.upsert('sites', { id: '1234', version: 1_000_000, source: { name: 'newer' } })

  const env = { DATABASE_URL: t.url, LIPAS_SEARCH_URL: t.sandbox.variables.LIPAS_SEARCH_URL ?? '' }
  const { code, out, err } = await ran(['reindex'], env)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toBe(
    `The index has 259 places and ${cells} squares from the register. Newer in the index, and kept: 1.\n`,
  )
  const [site, again] = stored()
  expect(site).toEqual(before[0])
  expect(again?.source).toMatchObject({ 'cell-id': square?.id, index: before[1]?.source.index })
  expect(again?.version).toBe(before[1]?.version)
  expect(search.document('lipas-sites', '1234')?.source).toEqual({ name: 'newer' })
})

test('without a search service, or with one that is down, it says what to do', async () => {
  await using t = await setup()
  const missing = await ran(['reindex'], { DATABASE_URL: t.url, LIPAS_SEARCH_URL: '' })
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('Set LIPAS_SEARCH_URL') })
  t.sandbox.set('search', 'down')
  const url = t.sandbox.variables.LIPAS_SEARCH_URL ?? ''
  const down = await ran(['reindex'], { DATABASE_URL: t.url, LIPAS_SEARCH_URL: url })
  expect(down).toMatchObject({ code: 1, err: 'error: The search service answered 503.\n' })
})
