declare module '*.css'

/** Made by vite.config.ts of the contract: name, method, path, permission, scope. */
declare module 'virtual:operations' {
  const table: readonly (readonly [name: string, method: string, path: string, permission: string, scope: string])[]
  export default table
}
