import { createMillrace, DatabaseUnavailable, endWorker, InvalidDefinition, migrate } from 'millrace'
import { expect, inject, test } from 'vitest'
import { silent } from '../support/setup.ts'

const SECRET = 'open-sesame'

test.each([
  ['not-a-url', '"not-a-url"'],
  ['', '""'],
  [`mysql://ada:${SECRET}@db.example:3306/app`, '"mysql://ada:***@db.example:3306/app"'],
  [`ada:${SECRET}@db.example/app`, '"ada:***@db.example/app"'],
  [`host=db.example password=${SECRET} dbname=app`, 'dbname=app'],
  [`postgres://ada:${SECRET}@db.example:port/app`, '"postgres://ada:***@db.example:port/app"'],
  [`postgres://ada:${SECRET}@${SECRET}@db.example:port/app`, '"postgres://ada:***@db.example:port/app"'],
])(
  '%s is refused as a database: the error quotes it without the password and says what was expected',
  async (database, quoted) => {
    const errors = [
      await (async () => createMillrace({ database, jobs: [] }))().catch((error: unknown) => error),
      await migrate(database).catch((error: unknown) => error),
      await endWorker(database, '00000000-0000-4000-8000-000000000001', { reason: 'x' }).catch(
        (error: unknown) => error,
      ),
    ]
    for (const error of errors) {
      expect(error).toBeInstanceOf(InvalidDefinition)
      const { message, stack, cause } = error as Error
      expect(message).toContain(quoted)
      expect(message).toContain('Expected postgres://user:password@host:5432/database')
      expect(`${message} ${stack} ${cause}`).not.toContain(SECRET)
    }
  },
)

async function failureAt(change: (url: URL) => void): Promise<DatabaseUnavailable> {
  const url = new URL(inject('serverUrl'))
  change(url)
  await using millrace = createMillrace({ database: url.href, jobs: [], logger: silent })
  await millrace.queues().catch(() => {})
  // The second error comes from memory, and names the same address.
  const error = await millrace.queues().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(DatabaseUnavailable)
  return error as DatabaseUnavailable
}

test('no server: the error names the address without the password, and says that the connection is tried again', async () => {
  const { message } = await failureAt((url) => {
    url.host = '127.0.0.1:1'
    url.password = SECRET
  })
  expect(message).toMatch(/at postgres:\/\/\w+@127\.0\.0\.1:1\/\w+ \(.*ECONNREFUSED/)
  expect(message).toContain('Millrace tries to connect again')
  expect(message).not.toContain(SECRET)
})

test('no such database: the error says so, and where', async () => {
  const { message, address } = await failureAt((url) => {
    url.pathname = '/nowhere'
  })
  expect(address).toMatch(/^postgres:\/\/\w+@.+\/nowhere$/)
  expect(message).toContain('That server has no such database')
})

test('no such user, or a password that is missing: the error says what to correct', async () => {
  const { message } = await failureAt((url) => {
    url.username = 'stranger'
    url.password = ''
  })
  expect(message).toContain('at postgres://stranger@')
  expect(message).toContain('expects another user or password')
})
