import { Refusal } from '@millrace/admin'

interface Scoped {
  readonly name: string
  readonly tenants: readonly string[] | null
}

/** Only callers who may act for the organization pass; where none is named, only those who may act for all. */
export function demandOrganization({ tenants, name }: Scoped, organization: string | undefined): void {
  if (tenants === null || (organization !== undefined && tenants.includes(organization))) return
  const needed = organization === undefined ? 'without tenants' : `of ${organization}`
  throw new Refusal(403, 'organization_scope', `${name} may act for ${tenants.join(', ')} only. Use a token ${needed}.`)
}
