import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { FaultProxy } from '#src/harness/proxy'

let direct: pg.Client
let proxy: FaultProxy

beforeAll(async () => {
  direct = await connect(inject('serverUrl'))
  proxy = await FaultProxy.before(inject('serverUrl'))
  await direct.query('create table proxy_probe (n int)')
})

afterAll(async () => {
  await direct.query('drop table proxy_probe')
  await direct.end()
  await proxy[Symbol.asyncDispose]()
})

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function rows(n: number): Promise<number> {
  return (await direct.query('select from proxy_probe where n = $1', [n])).rows.length
}

const insert = 'insert into proxy_probe values ($1)'

test('without a rule everything passes, and connections are counted', async () => {
  const before = proxy.connects.length
  const client = await connect(proxy.url)
  await client.query(insert, [1])
  await client.end()
  expect(await rows(1)).toBe(1)
  expect(proxy.connects.length).toBe(before + 1)
})

test('a reply cut after the fact: the server has done it, the client only sees the connection end', async () => {
  proxy.rule = { when: 'after', matches: ({ sql }) => sql === insert }
  const client = await connect(proxy.url)
  await expect(client.query(insert, [2])).rejects.toThrow(/terminated/)
  proxy.rule = undefined
  expect(await rows(2)).toBe(1)
})

test('a request cut before the fact never reaches the server', async () => {
  proxy.rule = { when: 'before', matches: ({ sql }) => sql === insert }
  const client = await connect(proxy.url)
  await expect(client.query(insert, [3])).rejects.toThrow(/terminated/)
  proxy.rule = undefined
  expect(await rows(3)).toBe(0)
})

test('a commit is known by what was asked before it in its transaction', async () => {
  proxy.rule = { when: 'after', matches: ({ sql, transaction }) => sql === 'commit' && transaction.includes(insert) }
  const client = await connect(proxy.url)
  await client.query('begin')
  await client.query('commit')
  await client.query('begin')
  await client.query(insert, [4])
  await expect(client.query('commit')).rejects.toThrow(/terminated/)
  proxy.rule = undefined
  expect(await rows(4)).toBe(1)
})

test('a reply that the rule does not want passes whole', async () => {
  proxy.rule = { when: 'after', matches: () => true, isWanted: ({ rows: count }) => count > 1 }
  const client = await connect(proxy.url)
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await expect(client.query('select generate_series(1, 2)')).rejects.toThrow(/terminated/)
  proxy.rule = undefined
})

test('reset, silent and refused connections fail, and pass again later', async () => {
  proxy.mode = 'reset'
  await expect(connect(proxy.url)).rejects.toThrow()
  proxy.mode = 'silent'
  await expect(connect(proxy.url)).rejects.toThrow(/timeout/)
  proxy.mode = 'pass'
  await proxy.refuse()
  await expect(connect(proxy.url)).rejects.toThrow(/ECONNREFUSED/)
  await proxy.listen()
  const client = await connect(proxy.url)
  await client.end()
})
