/** Keycloak cannot be used, or did not accept us: nothing about the user. */
export class KeycloakUnwell extends Error {
  override readonly name = 'KeycloakUnwell'
}
