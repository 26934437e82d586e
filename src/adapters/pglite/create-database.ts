import { PGlite } from '@electric-sql/pglite';

/**
 * create-database.ts FOLDER: makes an empty database there and ends. A process of its own, because making one takes 400 MB
 * that a process never gives back.
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('create-database.ts takes the folder of the database');
const database = await PGlite.create({ dataDir: folder });
await database.close();
