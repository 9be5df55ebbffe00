/** A tenant with this label stands for all that have none of their own. */
export const OTHER = 'other'

/**
 * The tenants that have a label of their own: as many as are allowed, in the order in which they come. A busy tenant is among the
 * first. A counter may not fall, so a label once given is kept.
 */
export class TenantLabels {
  readonly #most: number
  readonly #named = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  /** A job without a tenant has an empty label. */
  labelOf(tenant: string | null): string {
    if (tenant === null) return ''
    if (this.#named.has(tenant)) return tenant
    if (this.#named.size >= this.#most) return OTHER
    this.#named.add(tenant)
    return tenant
  }
}
