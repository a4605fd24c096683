create table item (id int primary key, name varchar(20));
insert into item values (1, 'lamp');
