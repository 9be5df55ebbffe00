// Who calls, and what they may see and do.
import type { Role } from '../contract/endpoint.ts'
import { notFound, Refusal } from './problem.ts'

export interface Caller {
  /** Written down with every change. */
  readonly name: string
  readonly role: Role
  /** The tenants whose things it may see and change; null: all, and what belongs to none. */
  readonly tenants: readonly string[] | null
  readonly via: 'token' | 'session' | 'own' | 'development'
}

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 }

export const hasRole = (caller: Caller, role: Role): boolean => RANK[caller.role] >= RANK[role]

export const maySee = (caller: Caller, tenant: string | null): boolean =>
  caller.tenants === null || (tenant !== null && caller.tenants.includes(tenant))

/** A thing that exists for others does not exist for this caller. */
export function demandTenant(caller: Caller, tenant: string | null, what: string): void {
  if (!maySee(caller, tenant)) throw notFound(what)
}

/** The tenants to ask for, one after the other: the one that was named, or all of the caller's. Undefined: whatever tenant. */
export function tenantsToList(caller: Caller, named: string | undefined): readonly (string | undefined)[] {
  if (named !== undefined) {
    demandTenant(caller, named, `tenant "${named}"`)
    return [named]
  }
  return caller.tenants ?? [undefined]
}

/** For calls that are about one tenant, or about all of them. */
export function oneTenant(caller: Caller, named: string | undefined): string | undefined {
  const [tenant, ...others] = tenantsToList(caller, named)
  // Of no tenant at all, it must not become a call about all of them.
  if (others.length === 0 && (tenant !== undefined || caller.tenants === null)) return tenant
  throw tenantNeeded(caller)
}

export const tenantNeeded = ({ tenants }: Caller): Refusal =>
  new Refusal(400, 'tenant_needed', `Name one of your tenants: ${tenants?.join(', ')}.`)

/** For changes of what several tenants share. */
export function demandUnscoped(caller: Caller): void {
  if (caller.tenants === null) return
  throw new Refusal(
    403,
    'tenant_scope',
    `This concerns every tenant, and ${caller.name} may act for ${caller.tenants.join(', ')} only. Use a token without tenants.`,
  )
}

export function demandRole(caller: Caller, role: Role): void {
  if (hasRole(caller, role)) return
  throw new Refusal(
    403,
    'role_needed',
    `This needs the role ${role}, and ${caller.name} is ${caller.role}. Ask an admin for a token of that role.`,
  )
}

/** One page out of several, newest first. Ids are numbers too large for Number. */
export function newestFirst<Item extends { readonly id: string }>(
  lists: readonly (readonly Item[])[],
  limit: number,
): Item[] {
  if (lists.length === 1) return [...(lists[0] as readonly Item[])]
  const newer = (a: Item, b: Item) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1)
  return lists.flat().sort(newer).slice(0, limit)
}

/** Where the page after this one begins. */
export const nextOf = (page: readonly { readonly id: string }[], limit: number): string | null =>
  page.length === limit ? (page.at(-1)?.id ?? null) : null
