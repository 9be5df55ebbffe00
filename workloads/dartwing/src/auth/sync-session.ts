// `dartwing_core.auth.sync_keycloak_session`: the local sessions of a user become those that Keycloak has.
import { type Implementation, implement, Unrecoverable } from 'millrace'
import { keycloak, syncKeycloakSession } from '../contracts/critical.ts'
import { orgContext } from '../organization/org-context.ts'
import type { DartwingSystem } from '../system.ts'
import { sessionsReplace } from './session-store.ts'

export const syncSessionHandler = (system: DartwingSystem): Implementation =>
  implement(syncKeycloakSession, async ({ organization, keycloakUser }, ctx) => {
    const user = await ctx.breaker(keycloak, () => system.keycloak.user(keycloakUser, ctx.signal))
    if (user !== undefined && !user.groups.includes(organization))
      throw new Unrecoverable(`Permission denied: the user is no member of ${organization} in Keycloak.`)
    return orgContext(ctx, (tx) => sessionsReplace(tx, organization, keycloakUser, user?.sessions ?? []), {
      complete: true,
    })
  })
