// Who may call: the caller, and the tokens.
import type { AdminToken } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { notFound } from '../problem.ts'
import { given, type Route, route } from '../route.ts'

const { access } = contract

const body = ({ isSession: _, ...token }: AdminToken) => token

export const accessRoutes: readonly Route[] = [
  route(access.tokens, async (_, { millrace }) => ({ tokens: (await millrace.tokens.list()).map(body) })),

  route(access.createToken, async ({ expiresIn, ...options }, { millrace, by }) => {
    const time = given({ expiresIn: expiresIn as `${number}d` | undefined })
    const { secret, token } = await millrace.tokens.create({ ...given(options), ...time, by })
    return { secret, token: body(token) }
  }),

  route(access.revokeToken, async ({ name }, { millrace, by }) => {
    if (!(await millrace.tokens.revoke(name, { by }))) throw notFound(`token "${name}" that is in force`)
    return { revoked: true as const }
  }),
]
