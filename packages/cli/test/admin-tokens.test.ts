// `millrace tokens`, and servers that need one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ran } from './support/program.ts'
import { setup } from './support/setup.ts'

type Cli = Awaited<ReturnType<typeof setup>>
let t: Cli

beforeAll(async () => {
  t = await setup()
})
afterAll(() => t[Symbol.asyncDispose]())

describe('millrace tokens', () => {
  test('makes a token that is shown once, lists it without its secret, and revokes it', async () => {
    expect(await t.run('tokens')).toMatchObject({ code: 0, out: expect.stringContaining('no tokens') })
    const made = await t.run(
      'tokens',
      'create',
      'acme portal',
      '--tenant',
      'acme',
      '--role',
      'operator',
      '--expires',
      '90d',
    )
    const secret = made.out.trim()
    expect(secret).toMatch(/^mr_[\w-]{43}$/)
    expect(await t.millrace.tokens.verify(secret)).toMatchObject({
      name: 'acme portal',
      tenants: ['acme'],
      role: 'operator',
    })
    const listed = await t.run('tokens')
    expect(listed.out).toMatch(/acme portal +operator +acme +expires in 90d/)
    expect(listed.out).not.toContain(secret)
    expect(await t.run('tokens', 'revoke', 'acme portal')).toMatchObject({ code: 0 })
    expect(await t.millrace.tokens.verify(secret)).toBeUndefined()
    const again = await t.run('tokens', 'revoke', 'acme portal')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('No token "acme portal" is in force') })
    expect(JSON.parse((await t.run('tokens', '--json')).out)).toMatchObject([{ name: 'acme portal' }])
  })
})

describe('without a token', () => {
  test('millrace admin does not start, for nobody could call it', async () => {
    const { code, err } = await ran(['admin', '--port', '0'], t.env)
    expect(code).toBe(1)
    expect(err).toMatch(/no token yet.*ADMIN_TOKEN/)
    expect(await ran(['admin', '--port', '0'], { ...t.env, ADMIN_TOKEN: 'short' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('at least 16'),
    })
  })

  test('millrace dev refuses to serve a network', async () => {
    const open = await ran(['dev', '--port', '0', '--host', '0.0.0.0'], t.env)
    expect(open).toMatchObject({ code: 1, err: expect.stringContaining('strangers could reach the admin API') })
  })
})
