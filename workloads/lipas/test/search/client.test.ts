// The search client against a server that speaks Elasticsearch's interface.
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '#src/sandbox/server'
import { type Document, openSearch } from '#src/search/client'
import { siteQuery } from '#src/search/documents'

async function setup() {
  const sandbox = await startSandbox({ misbehaves: false })
  const client = openSearch({ url: sandbox.variables.LIPAS_SEARCH_URL ?? '', apiKey: 'hidden-key', pauseMs: 1 })
  onTestFinished(async () => {
    await client.close()
    await sandbox.stop()
  })
  return { sandbox, client, server: sandbox.search }
}

const site = (id: number, name: string, version = 2): Document => ({
  ...{ id: String(id), version },
  source: { 'lipas-id': id, name, 'type-name': 'Sports hall' },
})

test('an older version of a document is no error, and does not overwrite the newer one', async () => {
  const { client, server } = await setup()
  expect(await client.upsert('sites', site(1, 'New', 4))).toBe('written')
  expect(await client.upsert('sites', site(1, 'Old', 3))).toBe('older')
  expect(await client.upsert('sites', site(1, 'Same', 4))).toBe('written')
  expect(server.document('lipas-sites', '1')).toMatchObject({ version: 4, source: { name: 'Same' } })
  expect(await client.bulk('sites', [site(1, 'Old', 3), site(2, 'Other', 3)])).toEqual({ written: 1, older: 1 })
})

test('only those items of a bulk are sent again that the service was too busy for', async () => {
  const { client, server } = await setup()
  const documents = Array.from({ length: 10 }, (_, i) => site(i, `Hall ${i}`))
  const seen = new Map<string, number>()
  server.rejectsItem = (id) => {
    seen.set(id, (seen.get(id) ?? 0) + 1)
    return Number(id) % 2 === 0 && seen.get(id) === 1
  }
  expect(await client.bulk('sites', documents)).toEqual({ written: 10, older: 0 })
  expect([...seen.values()]).toEqual([2, 1, 2, 1, 2, 1, 2, 1, 2, 1])
})

test('a whole bulk that the service was too busy for is sent again', async () => {
  const { client, server } = await setup()
  const real = server.answer.bind(server)
  let bulks = 0
  server.answer = (call) => (call.path.endsWith('/_bulk') && ++bulks < 3 ? server.limited() : real(call))
  expect(await client.bulk('sites', [site(1, 'One'), site(2, 'Two')])).toEqual({ written: 2, older: 0 })
  expect(bulks).toBe(3)
})

test('a service that stays too busy fails the call, with how many documents are left', async () => {
  const { client, server } = await setup()
  server.rejectsItem = (id) => id === '3'
  const documents = [site(1, 'One'), site(3, 'Three')]
  await expect(client.bulk('sites', documents)).rejects.toMatchObject({ status: 429, message: /1 of 2 documents/ })
})

test('the search box finds by name, by an unfinished word, by type and by id', async () => {
  const { client } = await setup()
  await client.bulk('sites', [site(123, 'Harju hall'), site(124, 'Niemi swimming pool'), site(125, 'Harju rink')])
  await client.refresh('sites')
  const names = async (typed: string) => {
    const { hits } = await client.search<{ name: string }>('sites', siteQuery(typed))
    return hits.map(({ source }) => source.name).sort()
  }
  expect(await names('harju')).toEqual(['Harju hall', 'Harju rink'])
  expect(await names('niemi swim')).toEqual(['Niemi swimming pool'])
  expect(await names('harju ri')).toEqual(['Harju rink'])
  expect(await names('124')).toEqual(['Niemi swimming pool'])
  expect(await names('sports ha')).toHaveLength(3)
  expect(await names('"nothing" here')).toEqual([])
  const { total, hits } = await client.search('sites', { match_all: {} }, { size: 1 })
  expect([total, hits.length]).toEqual([3, 1])
})

test('indices that are there already are left as they are', async () => {
  const { client, sandbox } = await setup()
  await client.upsert('sites', site(1, 'Kept'))
  const other = openSearch({ url: sandbox.variables.LIPAS_SEARCH_URL ?? '' })
  await other.ensureIndices()
  await other.close()
  expect((await client.search('sites', { match_all: {} })).total).toBe(1)
})

test('a failure tells neither the address nor the key', async () => {
  const { client, sandbox } = await setup()
  const told: string[] = []
  const note = (error: unknown) => told.push(`${error} ${JSON.stringify(error)} ${(error as Error).cause}`)
  sandbox.set('search', 'down')
  await client.upsert('sites', site(1, 'One')).catch(note)
  sandbox.set('search', 'limited')
  await client.upsert('sites', site(1, 'One')).catch(note)
  await sandbox.stop()
  await client.upsert('sites', site(1, 'One')).catch(note)
  expect(told).toHaveLength(3)
  expect(told[0]).toContain('503')
  expect(told[1]).toContain('"status":429')
  expect(told[2]).toContain('cannot be reached')
  for (const each of told) {
    expect(each).not.toContain('127.0.0.1')
    expect(each).not.toContain('hidden-key')
  }
})
