declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** All ids are UUIDs made by the application (version 7), so that they stay unique when an organization moves to another database. */
export type OrganizationId = Branded<'OrganizationId'>;
export type RepositoryId = Branded<'RepositoryId'>;
export type QueueId = Branded<'QueueId'>;
export type EntryId = Branded<'EntryId'>;
export type RunId = Branded<'RunId'>;
