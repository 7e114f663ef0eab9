insert into server_key (name, key) values ('upload-address', '\x00');
