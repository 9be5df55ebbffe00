/** What the secrets of an endpoint are bound to: they open for no other row. */
export const secretsFor = (organization: string, endpoint: string): string =>
  `${organization}/webhook_endpoint/${endpoint}/secrets`
